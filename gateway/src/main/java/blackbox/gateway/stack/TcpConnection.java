package blackbox.gateway.stack;

import blackbox.gateway.egress.FlowEnd.How;
import blackbox.gateway.packet.SynOptions;
import blackbox.schemas.net.TcpHeader;
import java.time.Duration;

/// The gateway's end of one TCP connection (RFC 9293), opened by the guest. Owned by the loop, which passes the time.
///
/// The link neither loses nor reorders frames, so this does without what is only for such networks: congestion control,
/// selective acknowledgement, time stamps, a queue of early segments (they are acknowledged as what they are, dropped,
/// and come again), fast retransmission. What a guest without memory drops is sent again after a time-out. The guest's
/// windows may be scaled (RFC 7323), ours are not. URG is ignored, as RFC 6093 advises.
final class TcpConnection {
    static final int WINDOW = 65_535;
    static final long NO_TIMER = Long.MAX_VALUE;

    /// What we can receive in one frame: the longest IPv4 packet without its headers. The guest's own MTU limits it.
    private static final int MSS_ANNOUNCED = 65_495;

    /// What we send in one: a quarter of a window that is not scaled. Linux acknowledges every other segment at
    /// once, and a single one after 40 ms.
    private static final int MSS_MAX = WINDOW / 4;

    private static final int MSS_MIN = 88;
    private static final int MSS_DEFAULT = 536;
    /// A window is announced again when it has grown by this, or, if less than the smaller figure is left of it, by
    /// that
    /// (RFC 9293 section 3.8.6.2.2).
    private static final int WINDOW_STEP = WINDOW / 2;

    private static final int WINDOW_STEP_MIN = 2 << 10;

    private static final int TRIES_MAX = 12;
    private static final int OPENING_TRIES_MAX = 5;
    private static final long RTO_NS = Duration.ofMillis(500).toNanos();
    private static final long RTO_MAX_NS = Duration.ofSeconds(30).toNanos();
    private static final long TIME_WAIT_NS = Duration.ofSeconds(1).toNanos();

    private static final int FIN = TcpHeader.FIN;
    private static final int SYN = TcpHeader.SYN;
    private static final int RST = TcpHeader.RST;
    private static final int PSH = TcpHeader.PSH;
    private static final int ACK = TcpHeader.ACK;

    /// Sends segments to the guest.
    interface Wire {
        /// Whether there is room for more octets. When there is again, [TcpConnection#pump] is called.
        boolean isReady();

        /// Sends a segment.
        ///
        /// @param mss an option, or 0 for none
        /// @param position of its first octet in the stream that [User#read] reads
        void send(int sequence, int acknowledgement, int flags, int window, int mss, long position, int length);

        /// Has [TcpConnection#acknowledge] called before the loop waits.
        void acknowledgeSoon();
    }

    /// Whose octets are sent and received.
    interface User {
        /// How many octets it takes.
        int room();

        /// Takes what the guest sent, in order; the array is the caller's.
        void received(byte[] octets, int from, int length);

        /// The guest has said that nothing more comes.
        void receivedAll();

        /// Whether all that was received is off its hands; until then it has this connection. Once it is,
        /// [TcpConnection#allRead] is to be called.
        boolean hasReadAll();

        /// The guest has acknowledged the next octets.
        void acknowledged(int octets);

        /// The guest knows that the connection is open.
        void opened();

        /// It is over; nothing is called any more.
        void ended(How how);
    }

    private final Wire wire;
    private final Limits limits;
    private User user;
    private final int guestSyn;
    private final int first;
    private final int mss;
    private final int windowShift;

    private boolean opened;
    private boolean ended;
    /// Whether nobody reads any more what the guest sends.
    private boolean detached;

    /// Positions in the guest's stream.
    private long received;

    private long windowEnd;
    private boolean windowCut;
    private boolean guestFinished;
    private boolean guestFinishedFirst;
    private boolean ackDue;

    /// Positions in our stream; the FIN is the octet after the last.
    private long acknowledged;

    private long next;
    private long sentMax;
    private long written;
    private boolean finishing;
    private boolean finished;
    private int window;
    private int windowMost;

    private long timerNs = NO_TIMER;
    private int tries;
    private long movedNs;
    private long endNs = NO_TIMER;

    /// @param openingNs how long the guest may take to acknowledge that it is open
    /// @param closingNs how long a connection may take to end after its user has closed it
    /// @param idleNs how long nothing may move while it is open
    record Limits(long openingNs, long closingNs, long idleNs) {}

    /// Answers a SYN.
    ///
    /// @param first the sequence number of our first octet
    /// @param options of the SYN
    TcpConnection(TcpHeader syn, SynOptions options, int first, Wire wire, User user, Limits limits) {
        this.guestSyn = syn.sequence();
        this.first = first;
        this.mss = Math.clamp(options.mss() == 0 ? MSS_DEFAULT : options.mss(), MSS_MIN, MSS_MAX);
        this.windowShift = options.scales() ? options.windowShift() : 0;
        this.window = syn.window();
        this.windowMost = window;
        this.wire = wire;
        this.user = user;
        this.limits = limits;
    }

    void open(long nowNs) {
        movedNs = nowNs;
        sendSynAck(nowNs);
    }

    boolean isOpened() {
        return opened;
    }

    boolean isEnded() {
        return ended;
    }

    /// Ends it if it only waits so that a late FIN is answered; returns whether it did.
    boolean endTimeWait() {
        boolean waits = isTimeWait();
        if (waits && !ended) {
            end(How.FINISHED);
        }
        return waits;
    }

    private boolean isTimeWait() {
        return detached && guestFinished && isFinAcknowledged();
    }

    /// Whether this is a repetition of the SYN that it answers.
    boolean isOpenedBy(TcpHeader syn) {
        return syn.sequence() == guestSyn;
    }

    long octetsOut() {
        return received;
    }

    long octetsIn() {
        return Math.min(acknowledged, written);
    }

    /// Takes a segment from the guest.
    ///
    /// @param octets has the payload, from the header's `payloadAt` to `end`
    void take(TcpHeader segment, byte[] octets, int end, long nowNs) {
        if (ended) {
            return;
        }
        int early = segment.sequence() - expected();
        if (is(segment, RST)) {
            takeReset(early);
            return;
        }
        if (is(segment, SYN)) {
            takeSyn(segment, nowNs);
            return;
        }
        int length = end - segment.payloadAt();
        boolean acceptable = early <= windowEnd - received && early + length + (is(segment, FIN) ? 1 : 0) >= 0;
        if (!acceptable || !is(segment, ACK)) {
            acknowledgeNow(); // a keep-alive or a probe of a full window, too
            return;
        }
        if (!takeAcknowledgement(segment, nowNs) || ended) {
            return;
        }
        takePayload(segment, early, octets, length, nowNs);
        if (!ended) {
            pump(nowNs);
            endIfDone(nowNs);
        }
    }

    /// Only a reset at the very place that is due is believed; others within the window are asked about (RFC 5961
    /// section 3.2).
    private void takeReset(int early) {
        if (early == 0) {
            end(How.RESET_BY_GUEST);
        } else if (early > 0 && early <= windowEnd - received) {
            acknowledgeNow();
        }
    }

    private void takeSyn(TcpHeader segment, long nowNs) {
        if (!opened && isOpenedBy(segment)) {
            timerNs = NO_TIMER;
            sendSynAck(nowNs);
        } else {
            acknowledgeNow(); // RFC 5961 section 4.2
        }
    }

    /// Returns whether the segment may be looked at further.
    private boolean takeAcknowledgement(TcpHeader segment, long nowNs) {
        long place = acknowledged + (segment.acknowledgement() - (first + (int) acknowledged));
        if (!opened && place != 0) {
            wire.send(segment.acknowledgement(), 0, RST, 0, 0, 0, 0);
            return false;
        }
        if (place > sentMax || place < acknowledged - windowMost) {
            acknowledgeNow(); // RFC 5961 section 5.2
            return false;
        }
        if (place < acknowledged) {
            return true; // an old one, whose window means nothing
        }
        boolean reopens = opened && window == 0 && segment.window() > 0;
        window = segment.window() << windowShift;
        windowMost = Math.max(windowMost, window);
        if (reopens && place == acknowledged) {
            next = acknowledged; // the probe of the shut window was dropped
            stopTimer();
        }
        if (!opened) {
            opened = true;
            movedNs = nowNs;
            stopTimer();
            user.opened();
        }
        if (place > acknowledged && !ended) {
            advance(place, nowNs);
        }
        return true;
    }

    private void advance(long place, long nowNs) {
        int octets = (int) (Math.min(place, written) - Math.min(acknowledged, written));
        acknowledged = place;
        next = Math.max(next, place);
        movedNs = nowNs;
        stopTimer();
        if (acknowledged < next) {
            startTimer(nowNs);
        }
        if (octets > 0) {
            user.acknowledged(octets);
        }
    }

    private void takePayload(TcpHeader segment, int early, byte[] octets, int length, long nowNs) {
        boolean fin = is(segment, FIN);
        if (early > 0) {
            ackDue();
            return;
        }
        int fresh = length + early; // how much of it is new, if it is not all old
        if (length > 0 || fin) {
            ackDue();
        }
        if (guestFinished || fresh < 0) {
            return;
        }
        if (fresh > 0 && detached) {
            abort(How.RESET); // nobody will read it (RFC 2525 section 2.17)
            return;
        }
        int taken = (int) Math.min(fresh, Math.min(user.room(), windowEnd - received));
        if (taken > 0) {
            movedNs = nowNs;
            received += taken;
            user.received(octets, segment.payloadAt() - early, taken);
        }
        if (fin && taken == fresh && !ended) {
            guestFinished = true;
            guestFinishedFirst = !finished;
            user.receivedAll();
        }
    }

    /// The user has written more, as much as `position` in all.
    void write(long position, long nowNs) {
        written = position;
        pump(nowNs);
    }

    /// Nothing more will be written: a FIN follows what was.
    void finish(long nowNs) {
        finishing = true;
        pump(nowNs);
    }

    /// The user has gone. What was written is still sent, then a FIN; `rest` stands in for the user.
    void detach(User rest, long nowNs) {
        user = rest;
        detached = true;
        endNs = nowNs + limits.closingNs();
        finish(nowNs);
        endIfDone(nowNs);
    }

    /// The user may have come to the end of what the guest sent.
    void allRead(long nowNs) {
        endIfDone(nowNs);
    }

    /// The user takes octets again.
    void roomChanged() {
        int room = user.room();
        boolean reopens = windowCut && room >= WINDOW_STEP_MIN;
        if (!ended && opened && (reopens || isWorthAnnouncing(received + room))) {
            ackDue();
        }
    }

    /// Sends what there is, and what was received is acknowledged along with it.
    void pump(long nowNs) {
        if (!opened || ended) {
            return;
        }
        while (next < written && next - acknowledged < window && wire.isReady()) {
            long left = written - next;
            int length = (int) Math.min(Math.min(mss, left), window - (next - acknowledged));
            if (length < Math.min(left, Math.min(mss, windowMost / 2)) && next > acknowledged) {
                break; // rather more later (RFC 9293 section 3.8.6.2.1)
            }
            transmit(length == left ? ACK | PSH : ACK, length, nowNs);
        }
        boolean room = next - acknowledged < window || next == acknowledged;
        if (finishing && next == written && room && !isFinAcknowledged()) {
            finished = true;
            transmit(ACK | FIN, 0, nowNs);
        } else if (next < written && next == acknowledged) {
            startTimer(nowNs); // to probe a window that is shut
        }
    }

    /// Sends an acknowledgement if one is due.
    void acknowledge() {
        if (ackDue && !ended) {
            acknowledgeNow();
        }
    }

    /// Does what is due.
    void tick(long nowNs) {
        if (ended) {
            return;
        }
        if (nowNs >= endNs) {
            endLate();
        } else if (!opened && nowNs - movedNs > limits.openingNs()) {
            abort(How.TIMED_OUT);
        } else if (opened && nowNs - movedNs > limits.idleNs()) {
            abort(How.IDLE);
        } else if (nowNs >= timerNs) {
            retransmit(nowNs);
        }
    }

    private void endLate() {
        if (isTimeWait()) {
            end(How.FINISHED);
        } else {
            abort(How.TIMED_OUT);
        }
    }

    private void retransmit(long nowNs) {
        timerNs = NO_TIMER;
        if (!wire.isReady()) {
            startTimer(nowNs); // nothing got lost: the machine takes no frames
            return;
        }
        // A guest without room is waited for as long as an idle one.
        if ((!opened || window > 0) && ++tries > (opened ? TRIES_MAX : OPENING_TRIES_MAX)) {
            abort(How.TIMED_OUT);
            return;
        }
        if (!opened) {
            sendSynAck(nowNs);
            return;
        }
        next = acknowledged;
        if (next < written) {
            // To a guest without room, a probe of one octet, which it may drop.
            transmit(ACK, (int) Math.min(Math.min(mss, written - next), Math.max(1, window)), nowNs);
        } else {
            pump(nowNs);
        }
    }

    /// Breaks it off.
    void abort(How how) {
        if (!ended) {
            wire.send(first + (int) Math.max(next, acknowledged), expected(), RST | ACK, 0, 0, 0, 0);
            end(how);
        }
    }

    private void end(How how) {
        ended = true;
        user.ended(how);
    }

    private void endIfDone(long nowNs) {
        if (ended || !guestFinished || !isFinAcknowledged() || !user.hasReadAll()) {
            return;
        }
        if (!detached || guestFinishedFirst) {
            acknowledge();
            end(How.FINISHED);
        } else if (endNs > nowNs + TIME_WAIT_NS) {
            endNs = nowNs + TIME_WAIT_NS;
        }
    }

    private boolean isFinAcknowledged() {
        return finished && acknowledged > written;
    }

    private int expected() {
        return guestSyn + 1 + (int) received + (guestFinished ? 1 : 0);
    }

    private void sendSynAck(long nowNs) {
        windowEnd = Math.max(windowEnd, user.room());
        wire.send(first - 1, guestSyn + 1, SYN | ACK, window(), MSS_ANNOUNCED, 0, 0);
        startTimer(nowNs);
    }

    private void transmit(int flags, int length, long nowNs) {
        ackDue = false;
        wire.send(first + (int) next, expected(), flags, window(), 0, next, length);
        next += length + ((flags & FIN) != 0 ? 1 : 0);
        sentMax = Math.max(sentMax, next);
        startTimer(nowNs);
    }

    private void acknowledgeNow() {
        ackDue = false;
        if (opened) {
            wire.send(first + (int) next, expected(), ACK, window(), 0, 0, 0);
        }
    }

    private void ackDue() {
        if (!ackDue) {
            ackDue = true;
            wire.acknowledgeSoon();
        }
    }

    /// The window to announce. It grows in steps, and takes back what was announced only where there is no longer room
    /// for it: then what comes is dropped, and the guest is told to wait rather than to try again.
    private int window() {
        int room = user.room();
        if (isWorthAnnouncing(received + room)) {
            windowEnd = received + room;
        }
        long announced = windowEnd - received;
        windowCut = room < announced;
        return (int) Math.min(room, announced);
    }

    private boolean isWorthAnnouncing(long end) {
        long step = windowEnd - received < WINDOW_STEP_MIN ? WINDOW_STEP_MIN : WINDOW_STEP;
        return end - windowEnd >= step;
    }

    private void startTimer(long nowNs) {
        if (timerNs == NO_TIMER) {
            timerNs = nowNs + Math.min(RTO_NS << Math.min(tries, TRIES_MAX), RTO_MAX_NS);
        }
    }

    private void stopTimer() {
        timerNs = NO_TIMER;
        tries = 0;
    }

    private static boolean is(TcpHeader segment, int flag) {
        return (segment.flags() & flag) != 0;
    }
}
