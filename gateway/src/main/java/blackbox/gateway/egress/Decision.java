package blackbox.gateway.egress;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A verdict, and on what. Also the gateway's own: those have no rule.
///
/// @param flow of the question or of the connection
/// @param host the name; null for an address that stands for none
/// @param what the type that was asked for, such as `A`; the port; where it was reached, or is not dialled,
///     `192.0.2.7:443`; the server name, empty if there is none; method, authority and target with a space between,
///     as they were sent; or the messages of MCP
/// @param mediaTypes those of a request's head
/// @param exe the program whose connection was judged, where the authority asked for it and it was known
public record Decision(
        Stage stage,
        Outcome outcome,
        @Nullable String rule,
        String reason,
        Flow flow,
        @Nullable String host,
        String what,
        Set<String> mediaTypes,
        @Nullable String exe) {

    public Decision {
        mediaTypes = Set.copyOf(mediaTypes);
    }

    /// One on a connection, or on a datagram to a new peer.
    public static Decision connect(Verdict verdict, Flow flow, Destination destination) {
        return new Decision(
                Stage.CONNECT,
                verdict.outcome(),
                verdict.rule(),
                verdict.reason(),
                flow,
                destination.host(),
                Integer.toString(destination.port()),
                Set.of(),
                destination.exe());
    }

    /// One that is not about a request.
    public Decision(
            Stage stage,
            Outcome outcome,
            @Nullable String rule,
            String reason,
            Flow flow,
            @Nullable String host,
            String what) {
        this(stage, outcome, rule, reason, flow, host, what, Set.of(), null);
    }

    /// One about the head of a request.
    public static Decision of(Verdict verdict, Flow flow, @Nullable String host, RequestHead head) {
        return new Decision(
                head.webSocket() ? Stage.WS : Stage.HTTP,
                verdict.outcome(),
                verdict.rule(),
                verdict.reason(),
                flow,
                host,
                head.method() + " " + head.authority() + " " + head.target(),
                head.mediaTypes(),
                null);
    }

    /// Whether what was asked goes on.
    public boolean allowed() {
        return outcome.goesOn();
    }

    /// When it was made.
    public enum Stage {
        /// A name was asked for.
        DNS,
        /// A connection was to be opened.
        CONNECT,
        /// The host had resolved the name and looked at the addresses, and is connected.
        DIAL,
        /// A TLS client had said whom it wants.
        TLS,
        /// The head of a request had arrived.
        HTTP,
        /// The head of a request had arrived that asks for a WebSocket.
        WS,
        /// Octets were to pass on a connection that is not HTTP, or that is not looked into.
        FLOW,
        /// A body with messages to an MCP server had arrived.
        MCP
    }
}
