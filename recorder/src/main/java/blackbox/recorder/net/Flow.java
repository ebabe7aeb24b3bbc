package blackbox.recorder.net;

import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Marks;
import blackbox.schemas.net.TcpHeader;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One flow as the host saw it. Owned by its [FlowTable].
final class Flow {

    /// What distinguishes flows; the endpoints are null for non-IP traffic.
    record Key(
            String protocol,
            @Nullable Endpoint local,
            @Nullable Endpoint remote) {}

    final Key key;

    @Nullable
    String host;

    private final Direction out = new Direction();
    private final Direction in = new Direction();
    private boolean helloDone;
    private boolean nameUnread;
    long lastSeenNs;
    private boolean reset;

    Flow(Key key) {
        this.key = key;
        this.helloDone = !key.protocol().equals("tcp");
    }

    /// Octets, packets and, for TCP, the range of sequence numbers of one direction.
    private static final class Direction {
        long packets;
        long payloadBytes;
        boolean started;
        long next;
        long streamBytes;
        boolean finished;

        void add(Packet packet, boolean tcp) {
            packets++;
            payloadBytes += packet.payload().length;
            if (!tcp) {
                return;
            }
            boolean syn = (packet.tcpFlags() & TcpHeader.SYN) != 0;
            if (!started) {
                started = true;
                next = packet.sequence() + (syn ? 1 : 0) & 0xffffffffL;
            }
            long start = packet.sequence() + (syn ? 1 : 0);
            int advance = (int) (start + packet.payload().length - next);
            if (advance > 0) {
                streamBytes += advance;
                next = next + advance & 0xffffffffL;
            }
            finished |= (packet.tcpFlags() & TcpHeader.FIN) != 0;
        }

        /// Stream octets without retransmissions; for a sender with false sequence numbers, at most the
        /// octets that it sent.
        long bytes(boolean tcp) {
            return tcp ? Math.min(streamBytes, payloadBytes) : payloadBytes;
        }
    }

    void add(Packet packet, boolean outbound, long nowNs) {
        boolean tcp = key.protocol().equals("tcp");
        (outbound ? out : in).add(packet, tcp);
        reset |= (packet.tcpFlags() & TcpHeader.RST) != 0;
        lastSeenNs = nowNs;
    }

    /// Whether what the guest sends next may belong to a ClientHello.
    boolean awaitsHello() {
        return !helloDone;
    }

    /// Ends the wait for a ClientHello.
    ///
    /// @param serverName the name in it, or null if none was found
    /// @param decided whether more octets would have changed nothing
    void named(@Nullable String serverName, boolean decided) {
        helloDone = true;
        host = serverName == null ? host : serverName;
        nameUnread = serverName == null && !decided;
    }

    /// What an event about this flow lacks.
    Marks marks() {
        return nameUnread ? new Marks(Map.of(), List.of("host")) : Marks.NONE;
    }

    /// Whether the TCP connection is over: reset, or finished in both directions.
    boolean isOver() {
        return reset || out.finished && in.finished;
    }

    /// How it ended, as far as could be seen.
    String ending() {
        if (reset) {
            return "reset";
        }
        return isOver() ? "closed" : "unfinished";
    }

    long bytesOut() {
        return out.bytes(key.protocol().equals("tcp"));
    }

    long bytesIn() {
        return in.bytes(key.protocol().equals("tcp"));
    }

    long packetsOut() {
        return out.packets;
    }

    long packetsIn() {
        return in.packets;
    }
}
