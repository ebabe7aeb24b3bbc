package blackbox.replay.cassette;

import blackbox.schemas.event.Endpoint;
import java.util.Arrays;

/// A TCP connection that the recorded guest opened, or tried to. Filled by its [ConnectionTape], then only
/// read.
///
/// Which octets of the answer may be sent when is known from the recording itself: each segment of the answer
/// acknowledges what its sender had by then. The answer's octets are released when the guest has sent as much
/// again.
final class RecordedConnection {
    /// What became of the guest's SYN.
    enum Opening {
        /// Nothing came back.
        UNANSWERED,
        /// A reset.
        REFUSED,
        /// An ICMP message said that there is no way.
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
    private End end = End.NONE;
    private long endNeeds = NEVER;
    /// ICMP or ICMPv6 type and code of the message that there is no way.
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

    /// Says that the answer so far was sent by one who had received `needs` octets (and one more for a FIN).
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

    /// Says how the remote side ended it; the first end counts.
    void end(End how, long needs) {
        if (end == End.NONE) {
            end = how;
            endNeeds = needs;
        }
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

    /// How it is to be ended for a guest that has sent `received` octets (and one for a FIN).
    End endFor(long received) {
        return endNeeds <= received && released(received) == response.length() ? end : End.NONE;
    }

    /// How much the guest has to send before anything is answered; [Long#MAX_VALUE] when nothing ever is.
    long needsFirst() {
        return turns > 0 ? turnNeeds[0] : endNeeds;
    }
}
