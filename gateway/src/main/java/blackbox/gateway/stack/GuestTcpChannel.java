package blackbox.gateway.stack;

import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowEnd.How;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.net.Octets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.channel.socket.DuplexChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// A guest's TCP connection as a Netty channel, so that any codec can be put on it. Its handlers see what they would of
/// a socket channel, with two differences:
///
/// - A write is done when the guest has acknowledged it. What is written and not acknowledged counts against
/// the write watermarks (at most 256 KiB), and is all that is kept to be sent again.
/// - [#close] sends what was written before, in the background, and then a FIN; if the guest sent octets that no
///   handler has read, a reset. [#reset] breaks the connection off.
///
/// What the guest sent is held, 64 KiB at most, until it is read: [Channel#read] or auto-read opens the window again.
public final class GuestTcpChannel extends AbstractChannel implements DuplexChannel {
    private static final int SLACK_OCTETS_MAX = 1_024;
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    /// Small pieces that wait are gathered in buffers of this size, since each costs more than its octets.
    private static final int GATHER_BYTES = 4 << 10;
    /// The bit of a channel's writability that stands for the budget.
    private static final int BUDGET = 1;

    private final GuestTcpChannelConfig config;
    private final TcpEntry entry;
    private final BufferBudget budget;
    private final Flow flow;
    private final OpeningConnection.EndListener listener;
    private final Runnable whenBudget = this::budgetHasRoom;
    private @Nullable TcpConnection connection;

    private final ArrayDeque<ByteBuf> unread = new ArrayDeque<>();
    private int unreadOctets;
    private boolean readPending;
    private boolean delivering;
    private boolean deliveryDue;
    private boolean guestFinished;
    private boolean inputShut;

    /// What this connection holds of the budget: what is unread or unacknowledged, and what handlers said they hold.
    private long held;

    private long unacknowledged;
    private long written;
    private boolean removing;
    private @Nullable ChannelOutboundBuffer outbound;
    private @Nullable ChannelPromise finishing;
    private boolean open = true;

    GuestTcpChannel(Channel link, TcpEntry entry, OpeningConnection.EndListener listener) {
        super(link);
        this.entry = entry;
        this.budget = entry.budget();
        this.config = new GuestTcpChannelConfig(this, entry.inFlightMax());
        this.flow = entry.flow();
        this.listener = listener;
    }

    void connect(TcpConnection opening) {
        connection = opening;
    }

    private TcpConnection connection() {
        TcpConnection known = connection;
        if (known == null) {
            throw new IllegalStateException("a channel without a connection");
        }
        return known;
    }

    /// The addresses that the guest uses.
    public Flow flow() {
        return flow;
    }

    /// Breaks the connection off: the guest's next call on it fails with `ECONNRESET`.
    public void reset() {
        if (open) {
            connection().abort(How.RESET);
            entry.flushSoon();
        }
    }

    /// Counts octets of this connection that a handler holds elsewhere, such as what waits to be written to
    /// the other side, so that all that a guest can make the gateway keep is under one limit. The connection
    /// lasts until nothing is held.
    ///
    /// @param octets how many more; negative for fewer
    public void hold(long octets) {
        if (!open) {
            return; // all that it held was given back when it closed
        }
        held += octets;
        budget.change(octets);
        if (octets < 0) {
            connection().roomChanged();
            connection().allRead(entry.nowNs());
        }
    }

    private void budgetHasRoom() {
        if (open) {
            setWritable(true);
            connection().roomChanged();
        }
    }

    /// How much more may be held; if that is little, [#budgetHasRoom] is called when it is not any more.
    private int roomOfBudget() {
        int room = budget.room(held);
        if (room < TcpConnection.WINDOW) {
            budget.await(whenBudget);
        }
        return room;
    }

    private void setWritable(boolean writable) {
        ChannelOutboundBuffer buffer = unsafe().outboundBuffer();
        if (buffer != null) {
            buffer.setUserDefinedWritability(BUDGET, writable);
        }
    }

    /// The connection's side of it.
    private final class Stream implements TcpConnection.User {
        @Override
        public int room() {
            return Math.min(TcpConnection.WINDOW - unreadOctets, roomOfBudget());
        }

        @Override
        public void received(byte[] octets, int from, int length) {
            keep(octets, from, length);
            deliverSoon();
        }

        @Override
        public void receivedAll() {
            guestFinished = true;
            deliverSoon();
        }

        @Override
        public boolean hasReadAll() {
            return inputShut && held == 0;
        }

        @Override
        public void acknowledged(int octets) {
            ChannelOutboundBuffer buffer = outbound;
            if (buffer == null || !open) {
                return;
            }
            unacknowledged -= octets;
            removing = true; // what is told of it may write more, and must not find half of it removed
            try {
                buffer.removeBytes(octets);
            } finally {
                removing = false;
            }
            hold(-octets);
            ((GuestUnsafe) unsafe()).flushAgain();
        }

        @Override
        public void opened() {}

        @Override
        public void ended(How how) {
            finishOutput();
            listener.ended(how, connection().octetsOut(), connection().octetsIn());
            if (open && how != How.FINISHED) {
                pipeline().fireExceptionCaught(new ConnectionResetException(how));
            }
            if (open) {
                unsafe().close(voidPromise());
            }
        }
    }

    TcpConnection.User user() {
        return new Stream();
    }

    private void keep(byte[] octets, int from, int length) {
        ByteBuf last = unread.peekLast();
        if (last == null || last.maxFastWritableBytes() < length) {
            last = alloc().buffer(unread.isEmpty() ? length : Math.max(length, GATHER_BYTES));
            unread.add(last);
        }
        last.writeBytes(octets, from, length);
        unreadOctets += length;
        hold(length);
    }

    private void deliverSoon() {
        if (readPending && !deliveryDue) {
            deliveryDue = true;
            entry.deliverSoon(this);
        }
    }

    /// Hands what was received to the pipeline, if it has asked for it.
    void deliver() {
        deliveryDue = false;
        if (!readPending || delivering || !open || (unread.isEmpty() && !endsNow())) {
            return;
        }
        readPending = false;
        delivering = true;
        try {
            boolean any = !unread.isEmpty();
            fireUnread();
            if (any) {
                pipeline().fireChannelReadComplete();
            }
            if (open && endsNow()) {
                shutInput();
            }
        } finally {
            delivering = false;
        }
        if (!unread.isEmpty() || endsNow()) {
            deliverSoon();
        }
    }

    private void fireUnread() {
        for (int left = unread.size(); left > 0 && open; left--) {
            ByteBuf octets = unread.removeFirst();
            int length = octets.readableBytes();
            unreadOctets -= length;
            pipeline().fireChannelRead(octets);
            hold(-length);
        }
    }

    private boolean endsNow() {
        return guestFinished && unread.isEmpty() && !inputShut;
    }

    private void shutInput() {
        inputShut = true;
        if (config.allowsHalfClosure()) {
            pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            pipeline().fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
        }
        if (!config.allowsHalfClosure()) {
            var unused = close();
        }
        connection().allRead(entry.nowNs());
    }

    @Override
    protected void doBeginRead() {
        readPending = true;
        if (!delivering && (!unread.isEmpty() || endsNow())) {
            deliverSoon();
        }
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer buffer) throws Exception {
        if (removing) {
            return;
        }
        outbound = buffer;
        buffer.removeBytes(0); // empty messages are acknowledged as they come
        var octets = new long[1];
        buffer.forEachFlushedMessage(message -> {
            octets[0] += ((ByteBuf) message).readableBytes();
            return true;
        });
        long more = octets[0] - unacknowledged;
        unacknowledged += more;
        written += more;
        hold(more);
        if (roomOfBudget() == 0) {
            setWritable(false);
        }
        connection().write(written, entry.nowNs());
        entry.flushSoon();
    }

    @Override
    protected Object filterOutboundMessage(Object message) throws Exception {
        if (finishing != null) {
            throw new ChannelOutputShutdownException("the output was shut down before");
        }
        if (message instanceof ByteBuf octets) {
            return fitting(octets);
        }
        throw new UnsupportedOperationException("only octets can be sent to a guest, not a "
                + message.getClass().getName());
    }

    /// A few octets in a large buffer would hold all of it until they are acknowledged, and count as few.
    private static ByteBuf fitting(ByteBuf octets) {
        int length = octets.readableBytes();
        if (octets.capacity() - length <= SLACK_OCTETS_MAX && length > SLACK_OCTETS_MAX) {
            return octets;
        }
        ByteBuf copy = Unpooled.copiedBuffer(octets);
        octets.release();
        return copy;
    }

    /// Copies written octets, to be sent.
    ///
    /// @param position of the first one among all that were ever written
    void read(long position, int length, byte[] into, int at) {
        ChannelOutboundBuffer buffer = outbound;
        if (buffer == null) {
            throw new IllegalStateException("nothing was written");
        }
        var copier = new Copier(position - (written - unacknowledged), length, into, at);
        try {
            buffer.forEachFlushedMessage(copier);
        } catch (Exception e) {
            throw new IllegalStateException("written octets cannot be read", e);
        }
    }

    private static final class Copier implements ChannelOutboundBuffer.MessageProcessor {
        private long skip;
        private int left;
        private final byte[] into;
        private int at;

        Copier(long skip, int length, byte[] into, int at) {
            this.skip = skip;
            this.left = length;
            this.into = into;
            this.at = at;
        }

        @Override
        public boolean processMessage(Object message) {
            ByteBuf octets = (ByteBuf) message;
            int readable = octets.readableBytes();
            if (skip >= readable) {
                skip -= readable;
                return true;
            }
            int count = (int) Math.min(left, readable - skip);
            octets.getBytes(octets.readerIndex() + (int) skip, into, at, count);
            at += count;
            left -= count;
            skip = 0;
            return left > 0;
        }
    }

    @Override
    protected void doClose() {
        boolean wasOpen = open;
        open = false;
        TcpConnection known = connection;
        if (known != null && wasOpen && !known.isEnded()) {
            if (!unread.isEmpty()) {
                known.abort(How.RESET);
            } else {
                leaveRest(known);
            }
        }
        unread.forEach(ByteBuf::release);
        unread.clear();
        budget.change(-held);
        held = 0;
        budget.forget(whenBudget);
    }

    /// The connection goes on without this channel until the guest has all that was written.
    private void leaveRest(TcpConnection known) {
        var rest = new byte[(int) unacknowledged];
        if (rest.length > 0) {
            read(written - unacknowledged, rest.length, rest, 0);
        }
        entry.leave(new WrittenRest(rest, written - rest.length, known, budget, listener));
        finishOutput();
    }

    private void finishOutput() {
        if (finishing != null) {
            finishing.trySuccess();
        }
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean isActive() {
        return open && connection != null;
    }

    @Override
    public boolean isInputShutdown() {
        return inputShut || !open;
    }

    /// Not supported: a guest cannot be told that nothing more is read, but by a reset.
    @Override
    public ChannelFuture shutdownInput() {
        return shutdownInput(newPromise());
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
        return promise.setFailure(new UnsupportedOperationException("TCP cannot shut down its input"));
    }

    @Override
    public boolean isOutputShutdown() {
        return finishing != null || !open;
    }

    @Override
    public ChannelFuture shutdownOutput() {
        return shutdownOutput(newPromise());
    }

    /// Sends a FIN after all that was written and flushed; done when the connection has ended.
    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
        if (!eventLoop().inEventLoop()) {
            eventLoop().execute(() -> {
                var unused = shutdownOutput(promise);
            });
        } else if (!open || finishing != null) {
            promise.setSuccess();
        } else {
            finishing = promise;
            connection().finish(entry.nowNs());
            entry.flushSoon();
        }
        return promise;
    }

    @Override
    public boolean isShutdown() {
        return isInputShutdown() && isOutputShutdown();
    }

    @Override
    public ChannelFuture shutdown() {
        return shutdownOutput();
    }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
        return shutdownOutput(promise);
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return true;
    }

    @Override
    protected SocketAddress localAddress0() {
        return socketAddress(flow.remote());
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return socketAddress(flow.guest());
    }

    private static InetSocketAddress socketAddress(Endpoint endpoint) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(Octets.ofAddress(endpoint.ip())), endpoint.port());
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address of a wrong length", e);
        }
    }

    @Override
    protected void doBind(SocketAddress address) {
        throw new UnsupportedOperationException("a guest's connection has its addresses");
    }

    @Override
    protected void doDisconnect() {
        doClose();
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new GuestUnsafe();
    }

    private final class GuestUnsafe extends AbstractUnsafe {
        @Override
        public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
            promise.setFailure(new UnsupportedOperationException("only the guest opens connections"));
        }

        void flushAgain() {
            flush0();
        }
    }
}
