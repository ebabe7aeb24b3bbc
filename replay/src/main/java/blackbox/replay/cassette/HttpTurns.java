package blackbox.replay.cassette;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

/// In which order the answers of one endpoint begin and end: as in the recording, as far as the guest asks for them in
/// time. Owned by one thread.
///
/// Two steps of each answer have a place in that order, its first octet and its last segment: a client may act on
/// either. A step waits for all that came before it in the recording, also for those of requests that the guest has not
/// sent yet, but for no longer than
///
/// - as many requests are underway as ever were in the recording: the client may have no connection left to send more;
/// - the guest was silent for [#QUIET_NS], or one step was waited for for [#STEP_NS];
/// - [#VAIN_NS] were spent in all on waiting for what did not come: from then on nothing is waited for.
///
/// No answer waits for longer than [#ANSWER_NS] in all, since clients give up after some time.
///
/// So a client that sends one request after the other never waits. What was waited for in vain is not waited for again.
final class HttpTurns {
    static final long QUIET_NS = Duration.ofSeconds(1).toNanos();
    static final long STEP_NS = Duration.ofSeconds(5).toNanos();
    static final long ANSWER_NS = Duration.ofSeconds(5).toNanos();
    static final long VAIN_NS = Duration.ofSeconds(10).toNanos();
    private static final int NONE = -1;

    /// By the place of an exchange, its steps; [#NONE] if it has no answer, or none that was recorded whole.
    private final int[] begins;

    private final int[] ends;
    /// By step, the place of its exchange.
    private final int[] places;
    /// By step, the number of its frame.
    private final long[] frames;
    private final BitSet done = new BitSet();
    /// Those that were not waited for.
    private final BitSet passed = new BitSet();
    /// Steps of requests that were sent, and are not done.
    private final BitSet due = new BitSet();
    /// Places of requests that were sent, and are not answered.
    private final BitSet underway = new BitSet();
    /// How many were underway at once in the recording.
    private final int underwayMost;

    /// Requests that were sent, in their order, and since when they have waited.
    private final ArrayDeque<Asked> asked = new ArrayDeque<>();

    private final List<Integer> justAsked = new ArrayList<>();
    private final Patience patience = new Patience();
    private int next;
    private long late;
    private boolean changed;

    private record Asked(int place, long sinceNs) {}

    /// How long a step is waited for that is somebody else's. Owned by one thread.
    static final class Patience {
        private int waitedFor = NONE;
        private long sinceNs;
        private long heardNs;
        private long vainNs;

        /// Notes that the guest has done something.
        void hear(long nowNs) {
            heardNs = nowNs;
        }

        /// Until when a step is waited for, from when that was first asked.
        long until(int step, long nowNs) {
            if (waitedFor != step) {
                waitedFor = step;
                sinceNs = nowNs;
            }
            return vainNs >= VAIN_NS ? nowNs : Math.min(Math.max(heardNs, sinceNs) + QUIET_NS, sinceNs + STEP_NS);
        }

        boolean isFor(int step) {
            return waitedFor == step;
        }

        /// Nothing is waited for any more.
        void rest() {
            waitedFor = NONE;
        }

        /// What was waited for has not come.
        void giveUp(long nowNs) {
            vainNs += nowNs - sinceNs;
            rest();
        }
    }

    /// @param all in the order of their places
    HttpTurns(List<HttpExchange> all) {
        record Step(long frame, int place, boolean end) {}
        this.begins = new int[all.size()];
        this.ends = new int[all.size()];
        var steps = new ArrayList<Step>();
        for (int i = 0; i < begins.length; i++) {
            HttpExchange each = all.get(i);
            begins[i] = NONE;
            ends[i] = NONE;
            if (each.lastSegment() > 0) {
                steps.add(new Step(each.answerBegan(), i, false));
            }
            if (each.isWhole() && each.answer().length() > 0) {
                steps.add(new Step(each.ended(), i, true));
            }
        }
        steps.sort(Comparator.comparingLong(Step::frame).thenComparing(Step::end));
        this.places = new int[steps.size()];
        this.frames = new long[steps.size()];
        for (int i = 0; i < places.length; i++) {
            Step step = steps.get(i);
            places[i] = step.place();
            frames[i] = step.frame();
            (step.end() ? ends : begins)[step.place()] = i;
        }
        this.underwayMost = underwayMost(all);
    }

    private static int underwayMost(List<HttpExchange> all) {
        long[] ended = all.stream()
                .mapToLong(each -> each.isWhole() ? each.ended() : Long.MAX_VALUE)
                .sorted()
                .toArray();
        int most = 0;
        int over = 0;
        for (int begun = 0; begun < ended.length; begun++) {
            while (ended[over] < all.get(begun).began()) {
                over++;
            }
            most = Math.max(most, begun + 1 - over);
        }
        return most;
    }

    /// How many octets of an answer may be sent now.
    long allowed(HttpExchange exchange, int place) {
        int first = next();
        if (isBefore(first, begins[place])) {
            return 0;
        }
        int other = first == begins[place] ? done.nextClearBit(first + 1) : first;
        return isBefore(other, ends[place])
                ? exchange.lastSegment()
                : exchange.answer().length();
    }

    /// Whether all steps were made that came before a frame of the recording.
    boolean isPast(long frame) {
        int step = next();
        return step >= frames.length || frames[step] >= frame;
    }

    private boolean isBefore(int step, int later) {
        return later != NONE && !done.get(later) && step < later;
    }

    private int next() {
        next = done.nextClearBit(next);
        return next;
    }

    /// Notes that a request was sent.
    void ask(int place) {
        underway.set(place);
        justAsked.add(place);
        for (int step : new int[] {begins[place], ends[place]}) {
            if (step != NONE && !done.get(step)) {
                due.set(step);
            }
        }
    }

    /// Notes that an answer has begun.
    void begin(int place) {
        finish(begins[place]);
    }

    /// Notes that all of an answer was sent.
    void answer(int place) {
        if (isPassed(begins[place]) || isPassed(ends[place])) {
            late++;
        }
        drop(place);
    }

    private boolean isPassed(int step) {
        return step != NONE && passed.get(step);
    }

    /// Notes that nothing more of an answer is sent.
    void drop(int place) {
        underway.clear(place);
        finish(begins[place]);
        finish(ends[place]);
    }

    /// Notes that a request will not be sent, unless it was.
    void forget(int place) {
        if (!underway.get(place)) {
            drop(place);
        }
    }

    private void finish(int step) {
        if (step != NONE) {
            due.clear(step);
            changed |= !done.get(step);
            done.set(step);
        }
    }

    /// Stops waiting where it has been long enough. Returns when to look again, or [PeerConnection#NO_TIMER].
    ///
    /// @param heard whether the guest has done anything since the last time
    /// @param held how many requests wait to be taken
    long tick(long nowNs, boolean heard, int held) {
        if (heard) {
            patience.hear(nowNs);
        }
        long firstNs = release(nowNs);
        while (isAnyWaiting()) {
            long untilNs = patience.until(next(), nowNs);
            boolean sent = due.get(next());
            boolean full = !sent && underway.cardinality() + held >= underwayMost;
            if (!full && nowNs < untilNs) {
                return Math.min(untilNs, firstNs);
            }
            pass(nowNs);
        }
        patience.rest();
        return PeerConnection.NO_TIMER;
    }

    /// Lets go of answers that have waited for long enough. Returns when the next one will have.
    private long release(long nowNs) {
        justAsked.forEach(place -> asked.add(new Asked(place, nowNs)));
        justAsked.clear();
        for (Asked first = asked.peek(); first != null; first = asked.peek()) {
            if (underway.get(first.place()) && nowNs < first.sinceNs() + ANSWER_NS) {
                return first.sinceNs() + ANSWER_NS;
            }
            asked.remove();
            if (underway.get(first.place())) {
                passWaitedFor(nowNs);
                release(begins[first.place()]);
                release(ends[first.place()]);
            }
        }
        return PeerConnection.NO_TIMER;
    }

    /// What an answer has waited for as long as it may has not come: neither do others wait for that.
    private void passWaitedFor(long nowNs) {
        if (patience.isFor(next())) {
            pass(nowNs);
        }
    }

    private void release(int step) {
        if (step != NONE && !done.get(step)) {
            passed.set(step);
            finish(step);
        }
    }

    /// Whether the answer to a request that was sent has to wait for another one.
    private boolean isAnyWaiting() {
        int first = due.nextSetBit(0);
        int second = first == next() ? due.nextSetBit(first + 1) : first;
        while (second >= 0 && first == next() && places[second] == places[first]) {
            second = due.nextSetBit(second + 1);
        }
        return second >= 0;
    }

    /// Does not wait any longer for what is before the first step that could be made: it was waited for in vain.
    private void pass(long nowNs) {
        patience.giveUp(nowNs);
        int from = next();
        int to = Math.max(from + 1, due.nextSetBit(from));
        passed.set(from, to);
        done.set(from, to);
        due.clear(from, to);
        changed = true;
    }

    /// Whether others may go on, since the last time.
    boolean takeChanged() {
        boolean was = changed;
        changed = false;
        return was;
    }

    /// How many answers were not given in the recorded order, or not waited for.
    long late() {
        return late;
    }
}
