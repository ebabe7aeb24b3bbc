package blackbox.gateway.stack;

import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowEnd.How;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The datagrams between one port of the guest's and one address and port. Owned by the loop.
public final class DatagramFlow {
    /// What may wait for a decision. More is lost, as datagrams are.
    private static final int WAITING_MAX = 8;

    private final DatagramTable table;
    private final long key;
    private final Flow flow;
    private List<byte[]> waiting = new ArrayList<>();
    private @Nullable Receiver receiver;
    private @Nullable Refusal refusal;
    private boolean ended;
    private long movedNs;
    private long octetsOut;
    private long octetsIn;

    /// Takes what the guest sends.
    public interface Receiver {
        void received(byte[] payload);

        /// Nothing more comes, and nothing can be sent.
        void ended(How how, long octetsOut, long octetsIn);
    }

    DatagramFlow(DatagramTable table, long key, Flow flow, long nowNs) {
        this.table = table;
        this.key = key;
        this.flow = flow;
        this.movedNs = nowNs;
    }

    long key() {
        return key;
    }

    public Flow flow() {
        return flow;
    }

    /// Whether it is neither started nor refused, nor over.
    public boolean isWaiting() {
        return receiver == null && refusal == null && !ended;
    }

    /// Serves it: what has come so far and what comes is handed on.
    public void start(Receiver takes) {
        if (!isWaiting()) {
            throw new IllegalStateException("the datagrams of " + flow + " are decided on");
        }
        receiver = takes;
        List<byte[]> first = waiting;
        waiting = List.of();
        first.forEach(this::hand);
    }

    /// Does not serve it: each datagram is answered with an ICMP message, without asking again, until the flow has been
    /// idle.
    public void refuse(Refusal why) {
        if (isWaiting()) {
            refusal = why;
            waiting.forEach(payload -> table.refuse(flow, payload, why));
            waiting = List.of();
        }
    }

    /// Sends a datagram to the guest, unless it is longer than the guest's interface takes, or the machine takes none.
    public void send(byte[] payload) {
        if (!ended && table.send(flow, payload)) {
            movedNs = table.nowNs();
            octetsIn += payload.length;
        }
    }

    /// Ends it: the next datagram begins another.
    public void end(How how) {
        if (!ended) {
            ended = true;
            table.remove(this);
            if (receiver != null) {
                receiver.ended(how, octetsOut, octetsIn);
            }
        }
    }

    void take(byte[] payload, long nowNs) {
        Refusal refused = refusal;
        if (refused != null) {
            table.refuse(flow, payload, refused);
            return; // not counted as movement, so that after a while it is decided anew
        }
        movedNs = nowNs;
        if (receiver != null) {
            hand(payload);
        } else if (waiting.size() < WAITING_MAX) {
            waiting.add(payload);
        }
    }

    private void hand(byte[] payload) {
        Receiver takes = receiver;
        if (takes != null && !ended) {
            octetsOut += payload.length;
            takes.received(payload);
        }
    }

    boolean isIdle(long nowNs, long maxNs) {
        return nowNs - movedNs > maxNs;
    }
}
