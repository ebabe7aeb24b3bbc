package blackbox.gateway.stack;

import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowEnd.How;
import blackbox.gateway.egress.Protocol;
import blackbox.gateway.packet.SynOptions;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.Octets;
import blackbox.schemas.net.TcpHeader;
import io.netty.channel.ChannelHandler;
import org.jspecify.annotations.Nullable;

/// One connection in a [TcpTable], from its SYN on. Owned by the loop.
final class TcpEntry implements TcpConnection.Wire, OpeningConnection {
    private final TcpTable table;
    private final long key;
    private final TcpHeader syn;
    private final SynOptions options;
    /// The frame with the SYN, which a refusal quotes; null once it is answered.
    private byte @Nullable [] packet;

    private final int remote;
    private final Flow flow;
    private final long sinceNs;
    private @Nullable Runnable abandoned;
    private @Nullable TcpConnection connection;
    private @Nullable GuestTcpChannel channel;
    private @Nullable WrittenRest rest;

    TcpEntry(TcpTable table, long key, TcpHeader syn, SynOptions options, byte[] packet) {
        this.table = table;
        this.key = key;
        this.syn = syn;
        this.options = options;
        this.packet = packet;
        this.remote = (int) (key >> 32);
        this.sinceNs = table.nowNs();
        var octets = new byte[4];
        Octets.putU32(octets, 0, remote);
        this.flow = new Flow(
                Protocol.TCP,
                new Endpoint(table.guest(), syn.sourcePort()),
                new Endpoint(IpAddress.text(octets), syn.destinationPort()));
    }

    long key() {
        return key;
    }

    @Override
    public Flow flow() {
        return flow;
    }

    @Override
    public long sequence() {
        return Integer.toUnsignedLong(syn.sequence());
    }

    int inFlightMax() {
        return table.inFlightMax();
    }

    BufferBudget budget() {
        return table.budget();
    }

    long nowNs() {
        return table.nowNs();
    }

    /// Whether a SYN opens a new connection in this one's place, which then ends.
    boolean makesRoomFor(TcpHeader other) {
        TcpConnection known = connection;
        if (known == null) {
            if (other.sequence() == syn.sequence()) {
                return false;
            }
            abandon();
            return true;
        }
        return known.endTimeWait();
    }

    void take(TcpHeader segment, byte[] octets, int end) {
        TcpConnection known = connection;
        if (known != null) {
            known.take(segment, octets, end, nowNs());
            if (known.isOpened()) {
                table.isOpen(this);
            }
        } else if ((segment.flags() & TcpHeader.RST) != 0 && segment.sequence() == syn.sequence() + 1) {
            abandon();
        }
    }

    void tick(long nowNs) {
        TcpConnection known = connection;
        if (known != null) {
            known.tick(nowNs);
        } else if (nowNs - sinceNs > table.openingMaxNs()) {
            Runnable action = abandoned;
            refuse(Refusal.UNREACHABLE);
            run(action);
        }
    }

    void pump() {
        TcpConnection known = connection;
        if (known != null) {
            known.pump(nowNs());
        }
    }

    void acknowledge() {
        TcpConnection known = connection;
        if (known != null) {
            known.acknowledge();
        }
    }

    /// Ends it, whatever its state.
    void end(How how) {
        TcpConnection known = connection;
        if (known != null) {
            known.abort(how);
        } else {
            abandon();
        }
    }

    private void abandon() {
        packet = null;
        table.remove(this);
        run(abandoned);
    }

    private static void run(@Nullable Runnable action) {
        if (action != null) {
            action.run();
        }
    }

    @Override
    public void onAbandoned(Runnable action) {
        abandoned = action;
    }

    @Override
    public boolean isWaiting() {
        return packet != null;
    }

    @Override
    public void refuse(Refusal why) {
        byte[] quoted = packet;
        if (quoted != null) {
            packet = null;
            table.remove(this);
            answer(why, quoted);
        }
    }

    void answer(Refusal why, byte[] quoted) {
        if (why == Refusal.UNREACHABLE) {
            table.unreachable(quoted, why);
        }
        send(0, syn.sequence() + 1, TcpHeader.RST | TcpHeader.ACK, 0, 0, 0, 0);
        table.flushSoon();
    }

    @Override
    public GuestTcpChannel accept(ChannelHandler handler, EndListener ended) {
        if (packet == null) {
            throw new IllegalStateException("the guest no longer waits for " + flow);
        }
        packet = null;
        abandoned = null;
        var accepted = new GuestTcpChannel(table.link(), this, (how, octetsOut, octetsIn) -> {
            table.remove(this);
            ended.ended(how, octetsOut, octetsIn);
        });
        var opening = new TcpConnection(syn, options, table.firstSequence(), this, accepted.user(), table.limits());
        accepted.connect(opening);
        channel = accepted;
        connection = opening;
        accepted.pipeline().addLast(handler);
        var unused = table.link().eventLoop().register(accepted);
        opening.open(nowNs());
        table.flushSoon();
        return accepted;
    }

    /// The channel has closed; its connection goes on until the guest has what was written.
    void leave(WrittenRest written) {
        TcpConnection known = connection;
        if (known != null) {
            rest = written;
            channel = null;
            known.detach(written, nowNs());
            table.flushSoon();
        }
    }

    void deliverSoon(GuestTcpChannel from) {
        table.deliverSoon(from);
    }

    void flushSoon() {
        table.flushSoon();
    }

    @Override
    public boolean isReady() {
        return table.isReady(this);
    }

    @Override
    public void send(int sequence, int ack, int flags, int window, int mss, long position, int length) {
        TcpFrame frame = table.frame();
        if (length > 0) {
            read(position, length, frame.octets());
        }
        frame.ports(remote, syn.destinationPort(), syn.sourcePort());
        frame.numbers(sequence, ack, window);
        frame.send(flags, mss, options.scales(), length, table.frames());
    }

    private void read(long position, int length, byte[] into) {
        GuestTcpChannel open = channel;
        WrittenRest left = rest;
        if (open != null) {
            open.read(position, length, into, TcpFrame.PAYLOAD_AT);
        } else if (left != null) {
            left.read(position, length, into, TcpFrame.PAYLOAD_AT);
        } else {
            throw new IllegalStateException("a connection without octets sends some");
        }
    }

    @Override
    public void acknowledgeSoon() {
        table.acknowledgeSoon(this);
    }
}
