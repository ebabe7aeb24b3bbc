package blackbox.gateway;

import blackbox.gateway.packet.TcpSegment;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// One of a [TestGuest]'s connections. It acknowledges in order, keeps to the gateway's window, and cuts what it sends
/// at
/// random.
final class TestConnection {
    private static final long RETRANSMIT_MS = 300;

    private final TestGuest guest;
    private final String to;
    private final int port;
    private final int from;
    private final int first;
    private int mssMax = 1_460;
    private int window = 65_535;

    private boolean opened;
    private boolean reset;
    private boolean finished;
    private int remoteFirst;
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();
    private byte[] toSend = new byte[0];
    private boolean toFinish;
    private int acknowledged;
    private int sent;
    private int remoteWindow;
    private @Nullable Integer taking = Integer.MAX_VALUE;

    TestConnection(TestGuest guest, String to, int port, int from, int isn) {
        this.guest = guest;
        this.to = to;
        this.port = port;
        this.from = from;
        this.first = isn + 1;
        guest.onSegments(from, this::take);
    }

    void open() throws IOException {
        guest.send(TestGuest.tcp(to, TestGuest.syn(from, port, first - 1)));
    }

    /// Cuts what is sent into pieces of at most so much.
    synchronized TestConnection pieces(int most) {
        mssMax = most;
        return this;
    }

    /// Announces this window, and takes no more than so much from now on.
    synchronized void take(int most, int announced) {
        taking = received.size() + most;
        window = announced;
    }

    /// Takes everything again, and says so.
    synchronized void takeAll() {
        taking = Integer.MAX_VALUE;
        window = 65_535;
        acknowledge();
    }

    synchronized boolean isOpen() {
        return opened;
    }

    private synchronized void take(TcpSegment segment) {
        if (segment.is(TcpSegment.RST)) {
            reset = true;
            notifyAll();
            return;
        }
        if (segment.is(TcpSegment.SYN)) {
            remoteFirst = segment.sequence() + 1;
            opened = true;
        }
        boolean wasShut = remoteWindow == 0;
        remoteWindow = segment.window();
        acknowledged = Math.max(acknowledged, segment.acknowledgement() - first);
        int known = remoteFirst + received.size() - segment.sequence();
        int length = segment.payload().length;
        Integer most = taking;
        if (!segment.is(TcpSegment.SYN) && known >= 0 && known <= length && !finished) {
            int fresh = Math.min(length - known, most == null ? 0 : most - received.size());
            received.write(segment.payload(), known, Math.max(0, fresh));
            finished = segment.is(TcpSegment.FIN) && fresh == length - known;
        }
        if (segment.is(TcpSegment.SYN) || length > 0 || segment.is(TcpSegment.FIN)) {
            acknowledge();
        }
        if (wasShut && remoteWindow > 0 && acknowledged < toSend.length) {
            sent = acknowledged; // what came while there was no room was dropped
        }
        push();
        notifyAll();
    }

    private int expected() {
        return remoteFirst + received.size() + (finished ? 1 : 0);
    }

    private void acknowledge() {
        say(sent, TcpSegment.ACK, new byte[0]);
    }

    /// Sends a segment of any kind.
    synchronized void say(int place, int flags, byte[] payload) {
        send(first + place, expected(), flags, payload);
    }

    void send(int sequence, int ack, int flags, byte[] payload) {
        try {
            guest.send(TestGuest.tcp(to, new TcpSegment(from, port, sequence, ack, flags, window, 0, payload, 0)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    synchronized void send(byte[] octets) {
        byte[] all = Arrays.copyOf(toSend, toSend.length + octets.length);
        System.arraycopy(octets, 0, all, toSend.length, octets.length);
        toSend = all;
        push();
    }

    synchronized void finish() {
        toFinish = true;
        push();
    }

    private void push() {
        if (!opened || reset) {
            return;
        }
        while (sent < toSend.length && sent - acknowledged < remoteWindow) {
            int room = Math.min(toSend.length - sent, remoteWindow - (sent - acknowledged));
            int count = Math.min(room, 1 + guest.random.nextInt(mssMax));
            byte[] octets = Arrays.copyOfRange(toSend, sent, sent + count);
            say(sent, TcpSegment.ACK | TcpSegment.PSH, octets);
            sent += count;
        }
        if (toFinish && sent == toSend.length) {
            say(sent, TcpSegment.ACK | TcpSegment.FIN, new byte[0]);
            sent++;
        }
    }

    /// Sends again what has not been acknowledged for a while.
    private void sendAgain(int acknowledgedBefore) {
        if (acknowledged == acknowledgedBefore && acknowledged < Math.min(sent, toSend.length)) {
            sent = acknowledged;
            push();
        }
    }

    private synchronized void await(String what, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + TestGuest.LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            long left = (end - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new AssertionError(what + ": " + this);
            }
            int before = acknowledged;
            wait(Math.min(left, RETRANSMIT_MS));
            sendAgain(before);
        }
    }

    TestConnection awaitOpen() throws InterruptedException {
        await("it does not open", () -> opened);
        return this;
    }

    /// Whether it opens; false once it is refused.
    boolean opens() throws InterruptedException {
        await("it is not answered", () -> opened || reset);
        return isOpened();
    }

    private synchronized boolean isOpened() {
        return opened;
    }

    void awaitReset() throws InterruptedException {
        await("it is not reset", () -> reset);
    }

    void awaitFinished() throws InterruptedException {
        await("the other side does not finish", () -> finished);
    }

    void awaitReceived(int octets) throws InterruptedException {
        await("too little came", () -> received.size() >= octets);
    }

    void awaitAcknowledged() throws InterruptedException {
        await("not all is acknowledged", () -> acknowledged >= toSend.length + (toFinish ? 1 : 0));
    }

    /// Waits until all that was sent is acknowledged, or the other side has broken it off.
    ///
    /// @return whether it has not
    boolean awaitTaken() throws InterruptedException {
        await("not all is acknowledged", () -> reset || acknowledged >= toSend.length);
        return !isReset();
    }

    void awaitWindow(int atMost) throws InterruptedException {
        await("the window stays open", () -> opened && remoteWindow <= atMost);
    }

    /// What came after the first `known` octets, once there is any; null when nothing more comes, because the other
    /// side has finished or broken off.
    synchronized byte @Nullable [] more(int known) throws InterruptedException {
        while (received.size() <= known && !finished && !reset) {
            int before = acknowledged;
            wait(RETRANSMIT_MS);
            sendAgain(before);
        }
        byte[] all = received.toByteArray();
        return all.length <= known ? null : Arrays.copyOfRange(all, known, all.length);
    }

    synchronized byte[] received() {
        return received.toByteArray();
    }

    /// Whether the other side has broken it off without having finished.
    synchronized boolean isBrokenOff() {
        return reset && !finished;
    }

    synchronized boolean isReset() {
        return reset;
    }

    synchronized int acknowledged() {
        return acknowledged;
    }

    synchronized int windowSeen() {
        return remoteWindow;
    }

    int firstSequence() {
        return first;
    }

    synchronized int remoteSequence() {
        return expected();
    }

    @Override
    public synchronized String toString() {
        return "opened %s, reset %s, finished %s, received %d, sent %d of %d, acknowledged %d, window %d"
                .formatted(opened, reset, finished, received.size(), sent, toSend.length, acknowledged, remoteWindow);
    }
}
