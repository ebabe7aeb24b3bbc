package blackbox.replay.cassette;

import blackbox.gateway.packet.TcpSegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The remote side of one TCP connection (RFC 9293), which plays the recording. It never opens a connection,
/// offers no options but a segment size, accepts octets only in order (early ones must be sent again), and
/// resends what is not acknowledged. What it sends is read from the captures, so it buffers nothing. Owned by
/// one thread.
final class PeerConnection {
    private static final int MSS = 1_460;
    private static final int MSS_MIN = 88;
    private static final int MSS_DEFAULT = 536;
    private static final int WINDOW = 65_535;
    private static final int TRIES_MAX = 8;
    private static final long RTO_NS = Duration.ofMillis(500).toNanos();
    private static final long RTO_MAX_NS = Duration.ofSeconds(8).toNanos();
    static final long NO_TIMER = Long.MAX_VALUE;

    private final Conversation claim;
    private final Wire wire;
    private final int guestFirst;
    private final int first;
    private final int mss;
    private int window;
    private boolean opened;
    private boolean closed;
    private boolean guestFinished;
    private boolean ackDue;
    /// Positions in our stream; the FIN is the octet after the last.
    private long acknowledged;

    private long next;
    private long sentMax;
    /// The place of our FIN.
    private long finished = Long.MAX_VALUE;
    private long timerNs = NO_TIMER;
    private int tries;

    /// Sends segments from one address and port to another.
    interface Wire {
        void send(int sequence, int acknowledgement, int flags, int window, int mss, byte[] payload);

        Consumer<Miss> misses();
    }

    /// Answers a SYN.
    ///
    /// @param first sequence number of our first octet
    PeerConnection(TcpSegment syn, int first, Conversation claim, Wire wire, long nowNs) {
        this.claim = claim;
        this.wire = wire;
        this.guestFirst = syn.sequence() + 1;
        this.first = first;
        this.mss = Math.clamp(syn.mss() == 0 ? MSS_DEFAULT : syn.mss(), MSS_MIN, MSS);
        this.window = syn.window();
        sendSynAck(nowNs);
    }

    boolean closed() {
        return closed;
    }

    /// When [#tick] must be called, or [#NO_TIMER].
    long timerNs() {
        return closed ? NO_TIMER : timerNs;
    }

    /// Whether this is a repetition of the SYN that it answers.
    boolean isOpenedBy(TcpSegment syn) {
        return syn.sequence() + 1 == guestFirst;
    }

    /// Takes a segment from the guest.
    void take(TcpSegment segment, long nowNs) {
        if (closed) {
            return;
        }
        if (segment.is(TcpSegment.RST)) {
            if (segment.is(TcpSegment.ACK)) {
                acknowledge(segment, nowNs);
            }
            close();
            return;
        }
        if (segment.is(TcpSegment.SYN)) {
            sendSynAck(nowNs);
            return;
        }
        if (segment.is(TcpSegment.ACK)) {
            acknowledge(segment, nowNs);
        }
        if (opened) {
            receive(segment);
        }
        if (!closed) {
            pump(nowNs);
        }
    }

    /// Goes on where it had to wait for other connections.
    void resume(long nowNs) {
        if (!opened || closed) {
            return;
        }
        refuse(claim.resume());
        if (!closed) {
            pump(nowNs);
        }
    }

    /// Resends what has not been acknowledged for too long.
    void tick(long nowNs) {
        if (closed || nowNs < timerNs) {
            return;
        }
        // A receiver without room is waited for indefinitely.
        if ((!opened || window > 0) && ++tries > TRIES_MAX) {
            reset();
            return;
        }
        timerNs = NO_TIMER;
        if (!opened) {
            sendSynAck(nowNs);
            return;
        }
        next = acknowledged;
        // A guest without room is probed with one octet, which it may drop.
        send(Math.max(1, window), nowNs);
    }

    /// Gives up its hold on the recording; nothing is sent.
    void close() {
        if (closed) {
            return;
        }
        closed = true;
        Miss miss = claim.close();
        if (miss != null) {
            wire.misses().accept(miss);
        }
    }

    private void sendSynAck(long nowNs) {
        wire.send(first - 1, guestFirst, TcpSegment.SYN | TcpSegment.ACK, WINDOW, MSS, new byte[0]);
        startTimer(nowNs);
    }

    private void acknowledge(TcpSegment segment, long nowNs) {
        long place = acknowledged + (segment.acknowledgement() - (first + (int) acknowledged));
        if (place < 0 || place > sentMax) {
            return;
        }
        window = segment.window();
        if (!opened) {
            opened = true;
            timerNs = NO_TIMER;
            tries = 0;
        }
        if (place > acknowledged) {
            acknowledged = place;
            claim.acknowledge(place);
            next = Math.max(next, place);
            tries = 0;
            timerNs = NO_TIMER;
            if (acknowledged < next) {
                startTimer(nowNs);
            }
        }
    }

    private void receive(TcpSegment segment) {
        int early = segment.sequence() - expected();
        int length = segment.payload().length;
        if (early > 0) {
            ackDue = true;
            return;
        }
        if (guestFinished || -early > length) {
            ackDue |= length > 0 || segment.is(TcpSegment.FIN);
            return;
        }
        byte[] fresh = Arrays.copyOfRange(segment.payload(), -early, length);
        if (fresh.length > 0) {
            ackDue = true;
            refuse(claim.take(fresh));
        } else if (length > 0) {
            ackDue = true;
        }
        if (!closed && segment.is(TcpSegment.FIN)) {
            guestFinished = true;
            ackDue = true;
            refuse(claim.finish());
        }
    }

    private void refuse(@Nullable Miss miss) {
        if (miss != null) {
            wire.misses().accept(miss);
            reset();
        }
    }

    private int expected() {
        return guestFirst + (int) claim.received();
    }

    private void pump(long nowNs) {
        send(window, nowNs);
        if (closed) {
            return;
        }
        if (ackDue) {
            ackDue = false;
            wire.send(first + (int) next, expected(), TcpSegment.ACK, WINDOW, 0, new byte[0]);
        }
        if (guestFinished && acknowledged > finished) {
            close();
        }
    }

    /// Sends what is released, at most `room` octets.
    private void send(int room, long nowNs) {
        long data = claim.released();
        RecordedConnection.End end = claim.end();
        while (next < data && next - acknowledged < room) {
            int count = (int) Math.min(Math.min(mss, data - next), room - (next - acknowledged));
            byte[] octets = claim.read(next, count);
            transmit(TcpSegment.ACK | TcpSegment.PSH, octets, octets.length, nowNs);
        }
        if (end == RecordedConnection.End.FIN && next == data && next - acknowledged < room) {
            finished = data;
            transmit(TcpSegment.ACK | TcpSegment.FIN, new byte[0], 1, nowNs);
            claim.ended();
        } else if (end == RecordedConnection.End.RST && acknowledged == data) {
            reset();
        } else if (next < data && next == acknowledged) {
            startTimer(nowNs);
        }
    }

    private void transmit(int flags, byte[] octets, int places, long nowNs) {
        wire.send(first + (int) next, expected(), flags, WINDOW, 0, octets);
        ackDue = false;
        next += places;
        sentMax = Math.max(sentMax, next);
        startTimer(nowNs);
    }

    private void startTimer(long nowNs) {
        if (timerNs == NO_TIMER) {
            timerNs = nowNs + Math.min(RTO_NS << Math.min(tries, TRIES_MAX), RTO_MAX_NS);
        }
    }

    private void reset() {
        wire.send(first + (int) next, expected(), TcpSegment.RST | TcpSegment.ACK, 0, 0, new byte[0]);
        close();
    }
}
