package blackbox.gateway.egress;

import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/// Decides what a guest may reach. Called on the gateway's loop, which it must not block; it may answer later, from any
/// thread, and the guest waits. A stage that fails, or is not complete within the gateway's limit, denies.
///
/// The answer must depend on the arguments and on earlier calls only, so that decisions can be evaluated again.
public interface EgressAuthority {

    /// Whether the guest may know an address of a name. Nothing has been resolved, and nothing will be until a
    /// connection is allowed.
    ///
    /// @param host a host name of at most 253 characters, in lower case
    /// @param type what the guest asked for: `A`, `AAAA`, `HTTPS`, `SVCB`, `MX`, `SRV`, `TXT`, or `TYPE`
    ///     and a number
    CompletionStage<Verdict> name(String host, String type);

    /// Whether it may open a connection, or send a datagram.
    CompletionStage<Verdict> connect(Destination destination);

    /// Whether what is said of a connection, or later of a request over it, may depend on its program, which
    /// the destination does not have yet.
    default boolean asksProgram(Destination destination) {
        return false;
    }

    /// Whether an allowed connection may go on, now that its TLS client has said whom it wants.
    ///
    /// @param serverName as it was sent; null if there is none
    CompletionStage<Verdict> tls(Destination destination, @Nullable String serverName);

    /// Whether a request may be forwarded, where the destination is connected, or where its verdict has something else
    /// dialled: there it is asked again.
    ///
    /// @param serverName that of the TLS connection; null if there is none
    CompletionStage<RequestVerdict> request(Destination destination, @Nullable String serverName, RequestHead head);

    /// What is asked of an allowed connection on which something else than HTTP is spoken, or that is not looked into.
    ///
    /// @param rule that allows it, now that the host is connected; null if none does
    default Passage stream(@Nullable String rule) {
        return Passage.FREE;
    }

    /// Whether an allowed destination may be dialled at an address that the host has found for it, or for the upstream
    /// in its place. Asked for each of them, before any is dialled, on any thread.
    ///
    /// @param address as [blackbox.schemas.net.IpAddress] writes it
    /// @param upstream in whose place it was found; null for the destination's own
    Verdict address(Destination destination, String address, @Nullable HostPort upstream);
}
