package blackbox.schemas.view;

import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A network event.
public abstract sealed class NetView extends EventView {

    NetView() {}

    /// `tcp`, `udp`, an IP protocol number, or a link-layer protocol `ether-…`.
    public final @Nullable Text protocol() {
        return text(Column.PROTOCOL);
    }

    public final @Nullable Text localIp() {
        return text(Column.LOCAL_IP);
    }

    public final @Nullable Long localPort() {
        return number(Column.LOCAL_PORT);
    }

    public final @Nullable Text remoteIp() {
        return text(Column.REMOTE_IP);
    }

    public final @Nullable Long remotePort() {
        return number(Column.REMOTE_PORT);
    }

    /// A socket call on a process's behalf.
    public abstract static sealed class Call extends NetView {
        Call() {}
    }

    /// `net.connect`.
    public static final class Connect extends Call {
        Connect() {}
    }

    /// `net.syn`: a connection of TCP is about to send its first segment, with both of its ends. A `net.connect` is
    /// told
    /// when the call returns, which may be when the other side has answered.
    public static final class Syn extends Call {
        Syn() {}

        /// The program that the process ran then; null if it is not known, and in records of before 0272.
        public @Nullable Text exe() {
            return text(Column.EXE);
        }
    }

    /// `net.bind`: a socket was given its own end, or was refused it.
    public static final class Bind extends Call {
        Bind() {}
    }

    /// `net.listen`.
    public static final class Listen extends Call {
        Listen() {}
    }

    /// `net.accept`.
    public static final class Accept extends Call {
        Accept() {}
    }

    /// `net.send`: the first datagram of a process to a destination.
    public static final class Send extends Call {
        Send() {}
    }

    /// `net.flow`: a connection or an exchange of datagrams, with its octets.
    public static final class Flow extends NetView {
        Flow() {}

        /// The peer's name: a DNS name or a TLS server name.
        public @Nullable Text host() {
            return text(Column.HOST);
        }

        /// Payload octets that the guest sent.
        public long bytesOut() {
            return count(Column.BYTES_OUT);
        }

        /// Payload octets that the guest received.
        public long bytesIn() {
            return count(Column.BYTES_IN);
        }

        /// How it ended, or `open`.
        public @Nullable Text ending() {
            return text(Column.WHAT);
        }

        /// Whether it has no IP address at all, being link-layer only.
        public boolean isOfLink() {
            return !has(Column.REMOTE_IP) && !has(Column.LOCAL_IP);
        }
    }

    /// `dns.query`.
    public static final class Dns extends NetView {
        Dns() {}

        /// The name that was asked for.
        public @Nullable Text name() {
            return text(Column.HOST);
        }

        /// The type of the record that was asked for, by IANA's number.
        public @Nullable Long type() {
            return number(Column.DNS_TYPE);
        }

        /// Addresses and names, if the host saw them.
        public List<Text> answers() {
            return list(Column.ANSWERS);
        }
    }

    /// `egress.decision`: the gateway allowed or refused something.
    public static final class Decision extends NetView {
        Decision() {}

        /// The name that was asked for or connected to, if there was one.
        public @Nullable Text host() {
            return text(Column.HOST);
        }

        /// `allow`, `deny` or `would-deny`.
        public @Nullable Text verdict() {
            return text(Column.WHAT);
        }

        /// Stage, rule and reason, as one JSON object.
        public @Nullable Text detail() {
            return text(Column.DETAIL);
        }
    }

    /// `http.exchange`: a request that the gateway judged, and what came of it.
    public static final class Exchange extends NetView {
        Exchange() {}

        /// As in [Decision#host].
        public @Nullable Text host() {
            return text(Column.HOST);
        }

        /// How it ended.
        public @Nullable Text ending() {
            return text(Column.WHAT);
        }

        /// Octets of the request's body that were forwarded.
        public long bytesOut() {
            return count(Column.BYTES_OUT);
        }

        /// Octets of the answer's body that were forwarded.
        public long bytesIn() {
            return count(Column.BYTES_IN);
        }

        /// Method, target, status, times and digests, as one JSON object.
        public @Nullable Text detail() {
            return text(Column.DETAIL);
        }
    }

    /// `egress.secret`: what became of a secret in one exchange.
    public static final class SecretUse extends NetView {
        SecretUse() {}

        /// As in [Decision#host].
        public @Nullable Text host() {
            return text(Column.HOST);
        }

        /// `put`, `absent`, `elsewhere` or `reflected`.
        public @Nullable Text how() {
            return text(Column.WHAT);
        }

        /// The exchange's number, the secret's id, rule, place and count, as one JSON object.
        public @Nullable Text detail() {
            return text(Column.DETAIL);
        }
    }

    /// What an HTTP exchange was in the terms of agents.
    public abstract static sealed class AgentCall extends NetView {
        AgentCall() {}

        /// As in [Decision#host].
        public final @Nullable Text host() {
            return text(Column.HOST);
        }

        /// The model's API, the tool's name or MCP's method; null where that was not said.
        public final @Nullable Text what() {
            return text(Column.WHAT);
        }

        /// All else, as one JSON object.
        public final @Nullable Text detail() {
            return text(Column.DETAIL);
        }
    }

    /// `llm.call`: a model was called.
    public static final class ModelCall extends AgentCall {
        ModelCall() {}
    }

    /// `llm.tool`: a model asked for a tool.
    public static final class ToolUse extends AgentCall {
        ToolUse() {}
    }

    /// `mcp.call`: a request to an MCP server.
    public static final class McpCall extends AgentCall {
        McpCall() {}
    }

    /// `net.miss`: a replay asked for something that its recording does not contain.
    public static final class Miss extends NetView {
        Miss() {}

        /// What was asked for, as one JSON object.
        public @Nullable Text detail() {
            return text(Column.DETAIL);
        }
    }
}
