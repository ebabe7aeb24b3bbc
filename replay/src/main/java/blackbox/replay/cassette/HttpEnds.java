package blackbox.replay.cassette;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

/// In which order the connections with one endpoint end: as in the recording, as far as the guest lets them. A client
/// that reads to the end of its connection acts on that end, and not on the answer's. Owned by one thread.
///
/// Before the remote side ends a connection it waits for the answers that had begun or ended before in the recording,
/// for
/// the ends of other connections, and for those streams that the guest had ended before: who acts on one end after the
/// other has acted on the first ones by then. It waits for no longer than
///
/// - the guest was silent for [HttpTurns#QUIET_NS], or one end was waited for for [HttpTurns#STEP_NS];
/// - [HttpTurns#VAIN_NS] were spent in all on waiting for what did not come: from then on nothing is waited for.
///
/// Answers wait for none of this.
final class HttpEnds {
    private static final int NONE = -1;

    /// By the place of an exchange, the remote side's end of its connection; [#NONE] if it is not the last on it, or
    /// the
    /// connection did not end so.
    private final int[] ends;
    /// The same of the guest's end of its stream.
    private final int[] leaves;
    /// By step, the number of its frame.
    private final long[] frames;

    private final BitSet done = new BitSet();
    /// Ends that were to be made, and have to wait.
    private final BitSet waiting = new BitSet();
    private final HttpTurns.Patience patience = new HttpTurns.Patience();
    private int next;
    private boolean changed;

    /// @param all in the order of their places
    HttpEnds(List<HttpExchange> all) {
        record Step(long frame, int place, boolean guests) {}
        this.ends = new int[all.size()];
        this.leaves = new int[all.size()];
        var steps = new ArrayList<Step>();
        for (int i = 0; i < ends.length; i++) {
            HttpExchange each = all.get(i);
            ends[i] = NONE;
            leaves[i] = NONE;
            if (!each.isLast() || !each.isWhole() || !each.connection().isFinished()) {
                continue;
            }
            steps.add(new Step(each.connection().endedAt(), i, false));
            if (each.connection().leftAt() != Long.MAX_VALUE) {
                steps.add(new Step(each.connection().leftAt(), i, true));
            }
        }
        steps.sort(Comparator.comparingLong(Step::frame));
        this.frames = steps.stream().mapToLong(Step::frame).toArray();
        for (int i = 0; i < frames.length; i++) {
            (steps.get(i).guests() ? leaves : ends)[steps.get(i).place()] = i;
        }
    }

    /// Whether the remote side may end the connection of an exchange, which is its last.
    boolean mayEnd(int place, HttpTurns answers) {
        int step = ends[place];
        if (step == NONE || done.get(step) || next() == step && answers.isPast(frames[step])) {
            return true;
        }
        waiting.set(step);
        return false;
    }

    private int next() {
        next = done.nextClearBit(next);
        return next;
    }

    /// Notes that the remote side has ended it.
    void end(int place) {
        finish(ends[place]);
    }

    /// Notes that the guest has ended its stream.
    void leave(int place) {
        finish(leaves[place]);
    }

    /// Notes that neither will end it.
    void drop(int place) {
        finish(ends[place]);
        finish(leaves[place]);
    }

    private void finish(int step) {
        if (step != NONE) {
            changed |= !done.get(step);
            done.set(step);
            waiting.clear(step);
        }
    }

    /// Stops waiting where it has been long enough. Returns when to look again, or [PeerConnection#NO_TIMER].
    ///
    /// @param heard whether the guest has done anything since the last time
    long tick(long nowNs, boolean heard) {
        if (heard) {
            patience.hear(nowNs);
        }
        int first = waiting.nextSetBit(0);
        if (first < 0) {
            patience.rest();
            return PeerConnection.NO_TIMER;
        }
        long untilNs = patience.until(next(), nowNs);
        if (nowNs < untilNs) {
            return untilNs;
        }
        patience.giveUp(nowNs);
        done.set(0, first + 1);
        waiting.clear(first);
        changed = true;
        return PeerConnection.NO_TIMER;
    }

    /// Whether others may go on, since the last time.
    boolean takeChanged() {
        boolean was = changed;
        changed = false;
        return was;
    }
}
