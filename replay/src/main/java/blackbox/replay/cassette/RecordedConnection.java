package blackbox.replay.cassette;

import blackbox.schemas.event.Endpoint;
import java.util.Arrays;

/// A TCP connection that the recorded guest opened, or tried to. Filled by its [ConnectionTape], then only
/// read.
///
/// The recording itself shows when which octets of the answer may be sent: each segment of the answer
/// acknowledges what its sender had received by then. The answer's octets are released once the guest has
/// sent that much again.
final class RecordedConnection {
    /// The outcome of the guest's SYN.
    enum Opening {
        /// Nothing came back.
        UNANSWERED,
        /// A reset.
        REFUSED,
        /// An ICMP message reported it unreachable.
        UNREACHABLE,
        /// It was opened.
        ACCEPTED
    }

    /// How the remote side ended it.
    enum End {
        /// Not before the recording's end.
        NONE,
        FIN,
        RST
    }

    private static final long NEVER = Long.MAX_VALUE;

    private final Endpoint remote;
    private final RecordedStream request;
    private final RecordedStream response;
    private long[] turnEnds = new long[2];
    private long[] turnNeeds = new long[2];
    private int turns;
    Opening opening = Opening.UNANSWERED;
    /// Whether octets of it are missing in the capture.
    boolean hasGap;
    private End end = End.NONE;
    private long endNeeds = NEVER;
    private long endedAt = NEVER;
    private long leftAt = NEVER;
    /// ICMP or ICMPv6 type and code of the unreachable message.
    int unreachable;

    RecordedConnection(Endpoint remote, RecordedStream request, RecordedStream response) {
        this.remote = remote;
        this.request = request;
        this.response = response;
    }

    Endpoint remote() {
        return remote;
    }

    RecordedStream request() {
        return request;
    }

    RecordedStream response() {
        return response;
    }

    /// Records that the sender of the answer so far had received `needs` octets (plus one for a FIN).
    void turn(long needs) {
        if (turns > 0 && turnNeeds[turns - 1] >= needs) {
            turnEnds[turns - 1] = response.length();
            return;
        }
        if (turns == turnEnds.length) {
            turnEnds = Arrays.copyOf(turnEnds, 2 * turns);
            turnNeeds = Arrays.copyOf(turnNeeds, 2 * turns);
        }
        turnEnds[turns] = response.length();
        turnNeeds[turns] = needs;
        turns++;
    }

    /// Records how the remote side ended it; the first end counts.
    ///
    /// @param frame number of the frame, among those of both directions
    void end(End how, long needs, long frame) {
        if (end == End.NONE) {
            end = how;
            endNeeds = needs;
            endedAt = frame;
        }
    }

    /// Records that the guest ended its stream; the first end counts.
    void leave(long frame) {
        leftAt = Math.min(leftAt, frame);
    }

    /// Number of the frame with which the remote side ended it; [Long#MAX_VALUE] if it did not.
    long endedAt() {
        return endedAt;
    }

    /// Number of the frame with which the guest ended its stream; [Long#MAX_VALUE] if it did not.
    long leftAt() {
        return leftAt;
    }

    /// How many octets of the answer may be sent to a guest that has sent `received` octets (and one for a
    /// FIN).
    long released(long received) {
        int first = 0;
        int last = turns;
        while (first < last) {
            int middle = (first + last) >>> 1;
            if (turnNeeds[middle] <= received) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        return first == 0 ? 0 : turnEnds[first - 1];
    }

    /// How much the guest has to send before the octet of the answer at `at` is sent.
    long needs(long at) {
        int first = 0;
        int last = turns;
        while (first < last) {
            int middle = (first + last) >>> 1;
            if (turnEnds[middle] <= at) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        return first == turns ? NEVER : turnNeeds[first];
    }

    /// Whether the remote side ended it in order.
    boolean isFinished() {
        return end == End.FIN;
    }

    /// How it is to be ended for a guest that has sent `received` octets (and one for a FIN).
    End endFor(long received) {
        return endNeeds <= received && released(received) == response.length() ? end : End.NONE;
    }

    /// How much the guest has to send before anything is answered; [Long#MAX_VALUE] when nothing ever is.
    long needsFirst() {
        return turns > 0 ? turnNeeds[0] : endNeeds;
    }
}
