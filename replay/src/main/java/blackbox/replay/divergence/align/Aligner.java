package blackbox.replay.divergence.align;

import blackbox.replay.content.OwnIds;
import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.replay.divergence.strand.Lineage;
import blackbox.replay.divergence.strand.Strand;
import blackbox.replay.divergence.strand.Token;
import blackbox.replay.divergence.strand.TokenSink;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.replay.divergence.text.KnownNames;
import blackbox.replay.divergence.text.MadeUpNames;
import blackbox.replay.divergence.text.StandingIds;
import blackbox.replay.divergence.text.TextNormalizer;
import blackbox.schemas.event.Finding;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.Counts;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/// Reads both sides and matches them strand by strand. The side with fewer events waiting for their
/// counterparts is read next, so that one side's extra events do not make the other's pile up.
///
/// Memory: at most [#PENDING_MAX] tokens of each side wait; beyond that the strands with the most are cut
/// off, which is counted. A strand that ended in agreement leaves nothing behind. Owned by one thread.
public final class Aligner {

    public static final int RECORDED = 0;
    public static final int ACTUAL = 1;

    static final int PENDING_MAX = 1 << 18;
    private static final int WINDOW = 1_024;
    private static final int WINDOW_MAX = 4_096;
    private static final int GRACE_EVENTS = 16_384;
    private static final int HEAD_MAX = 4_096;
    private static final int EDIT_TOKENS = 256;
    private static final int EDIT_TOKENS_MAX = 1 << 17;
    private static final int DIVERGENT_MAX = 1 << 16;

    private record Ending(long key, long events) {}

    private final Deque<Ending> ending = new ArrayDeque<>();
    private final Map<Long, StrandPair> pairs = new LinkedHashMap<>();
    private final KnownNames[] known;
    private final NamePairs names;
    private final AgreedChanges changes = new AgreedChanges();
    private final Agreements agreements;
    private final AgreedPlaces places = new AgreedPlaces();
    private final EventViews views = new EventViews();
    private final Lineage[] lineages;
    private final int[] pending = new int[2];
    private final long[] cutOff = new long[2];
    private final long[] events = new long[2];
    private final boolean[] closed = new boolean[2];
    private final long[] lost = new long[2];
    private int editTokens;
    private int divergent;
    private long matched;
    private long lanesDiffering;
    private boolean foldedOtherwise;
    private boolean turnsTakenOtherwise;
    private boolean forgotten;
    private final Mounts[] mounts = {new Mounts(), new Mounts()};
    private boolean missing;

    /// Whether the guest's tracer went quiet, and has not sent anything since.
    private final boolean[] silent = new boolean[2];

    private Aligner(KeyedHash hash, int pivot, KnownNames recorded, KnownNames actual, Agreements agreements) {
        this.agreements = agreements;
        agreements.begin();
        known = new KnownNames[] {recorded, actual};
        names = new NamePairs(pivot);
        lineages = new Lineage[] {new Lineage(hash, recorded, sink(RECORDED)), new Lineage(hash, actual, sink(ACTUAL))};
    }

    /// Reads both to their ends, once if they agree and share no time that was taken for one side's own.
    /// Otherwise, if names may have been made up, it reads again knowing all words of both, and if they still
    /// do not agree, a last time with the pairs of corresponding names. If that leaves differences, and names were
    /// taken away and made up again, the same with each time as a name of its own.
    ///
    /// @param pivot the side whose strands have the same keys in every alignment of which it is the pivot
    /// @param ids actual ids of git's objects by the recorded ones that they stand for
    /// @param drawn ids of the actual side that stand for recorded ones
    /// @param agreements is told which events agree
    public static Aligner of(
            KeyedHash hash,
            EventSource recorded,
            EventSource actual,
            int pivot,
            Map<String, String> ids,
            OwnIds drawn,
            Agreements agreements)
            throws IOException {
        KnownNames start = KnownNames.of(StandingIds.ofRecorded(hash, ids), OwnIds.NONE);
        KnownNames startOfActual = KnownNames.of(StandingIds.ofActual(hash, ids), drawn);
        Aligner first = new Aligner(hash, pivot, start, startOfActual, agreements).align(recorded, actual);
        MadeUpNames one = first.lineages[RECORDED].names();
        MadeUpNames other = first.lineages[ACTUAL].names();
        boolean settled = first.isAgreed() && !one.sharesTimes(other);
        if (settled || !one.isAnyToTell() && !other.isAnyToTell()) {
            return first;
        }
        KnownNames words = start.with(one.said(), other.said());
        KnownNames wordsOfActual = startOfActual.with(other.said(), one.said());
        Readings readings = new Readings(hash, pivot, recorded, actual, agreements);
        Aligner once = readings.of(words, wordsOfActual);
        if (once.isAgreed() || !once.isAnyNameMadeUpAgain()) {
            return once;
        }
        Aligner again = readings.of(words.withNamesMadeUpAgain(), wordsOfActual.withNamesMadeUpAgain());
        // Each way is sound; the one that explains more is the answer. What agrees is told by the last reading.
        return again.differing() < once.differing() ? again : readings.of(words, wordsOfActual);
    }

    /// What two readings with all words of both sides are made with.
    private record Readings(
            KeyedHash hash, int pivot, EventSource recorded, EventSource actual, Agreements agreements) {
        /// The first of them if it agrees, else the one that knows from it which names stand for each other.
        Aligner of(KnownNames words, KnownNames wordsOfActual) throws IOException {
            Aligner second = new Aligner(hash, pivot, words, wordsOfActual, agreements).align(recorded, actual);
            if (second.isAgreed()) {
                return second;
            }
            KnownNames all = words.with(second.names.standIns(RECORDED));
            KnownNames allOfActual = wordsOfActual.with(second.names.standIns(ACTUAL));
            return new Aligner(hash, pivot, all, allOfActual, agreements).align(recorded, actual);
        }
    }

    private boolean isAnyNameMadeUpAgain() {
        return lineages[RECORDED].names().isAnyAgain()
                || lineages[ACTUAL].names().isAnyAgain();
    }

    /// How many events of either side have no counterpart.
    private long differing() {
        long compared = events[RECORDED] + events[ACTUAL] - notCompared(RECORDED) - notCompared(ACTUAL);
        return compared - 2 * matched;
    }

    private boolean isAgreed() {
        return pairs.isEmpty() && names.isFitting();
    }

    private TokenSink sink(int side) {
        return new TokenSink() {
            @Override
            public void accept(Strand strand, Token token) {
                offer(side, strand, token);
            }

            @Override
            public void ended(Strand strand) {
                end(side, strand);
            }
        };
    }

    private Aligner align(EventSource recorded, EventSource actual) throws IOException {
        try (EventCursor first = recorded.open(0);
                EventCursor second = actual.open(0)) {
            boolean[] open = {true, true};
            EventCursor[] cursors = {first, second};
            while (open[RECORDED] || open[ACTUAL]) {
                boolean ahead = pending[RECORDED] > pending[ACTUAL];
                int side = open[RECORDED] && (!ahead || !open[ACTUAL]) ? RECORDED : ACTUAL;
                open[side] = read(cursors[side], side);
                settleEnded();
            }
        }
        finish();
        return this;
    }

    private boolean read(EventCursor cursor, int side) throws IOException {
        // In batches, so that each side's code and data stay in the caches.
        for (int i = 0; i < 64; i++) {
            if (!cursor.next()) {
                lineages[side].finish();
                return false;
            }
            EventView event = views.of(cursor.row());
            events[side]++;
            closed[side] |= event instanceof RunView.Close;
            if (event instanceof RecorderView.Loss loss) {
                lost[side] = Counts.sum(lost[side], loss.lost());
            }
            missing |= isMissing(event);
            silent[side] = isSilent(event, silent[side]);
            mounts[side].see(event);
            lineages[side].add(event, cursor.index());
        }
        return true;
    }

    private StrandPair pair(int side, Strand strand) {
        if (strand.attachment() instanceof StrandPair known) {
            return known;
        }
        StrandPair pair = pairs.computeIfAbsent(strand.key(), _ -> new StrandPair());
        if (!pair.isShown(side)) {
            pair.show(side, strand);
        }
        return pair;
    }

    private void offer(int side, Strand strand, Token token) {
        StrandPair pair = pair(side, strand);
        if (pair.isCutOff(side)) {
            cutOff[side]++;
            return;
        }
        Deque<Token> own = pair.queue(side);
        Deque<Token> other = pair.queue(1 - side);
        if (own.isEmpty() && !other.isEmpty() && other.peek().canon() == token.canon()) {
            pending[1 - side]--;
            Token head = other.remove();
            agree(pair, side == RECORDED ? token : head, side == RECORDED ? head : token);
            return;
        }
        own.add(token);
        pending[side]++;
        settle(pair);
        if (pending[side] > PENDING_MAX) {
            relieve(side);
        }
    }

    private void agree(StrandPair pair, Token recorded, Token actual) {
        agree(recorded, actual);
        if (recorded.writes() && Interleaving.isOfProcess(pair.strand())) {
            changes.add(pair.strand().process(), recorded, actual);
        }
        pair.agree(recorded, actual);
    }

    private void agree(Token recorded, Token actual) {
        places.agree(recorded, actual);
        matched++;
        agreements.agree(recorded.index(), actual.index());
        lanesDiffering |= recorded.lanes() ^ actual.lanes();
        names.agree(recorded, actual);
    }

    private void end(int side, Strand strand) {
        StrandPair pair = pairs.get(strand.key());
        if (pair == null) {
            return;
        }
        pair.end(side);
        if (pair.isDone() && pair.isWithoutEdits()) {
            forget(strand.key(), pair);
        } else if (pair.hasEnded(RECORDED) && pair.hasEnded(ACTUAL)) {
            ending.add(new Ending(strand.key(), events[RECORDED] + events[ACTUAL]));
        }
    }

    private void forget(long key, StrandPair pair) {
        pairs.remove(key);
        pair.hide();
    }

    /// Compares what is left of strands that ended a while ago on both sides: files and flows may be
    /// reported shortly after the end of the process that had them.
    private void settleEnded() {
        long now = events[RECORDED] + events[ACTUAL];
        while (!ending.isEmpty() && now - ending.element().events() > GRACE_EVENTS) {
            long key = ending.remove().key();
            StrandPair pair = pairs.get(key);
            if (pair == null || pair.isOneSided()) {
                continue;
            }
            compareAll(pair);
            if (pair.isWithoutEdits() || ++divergent > DIVERGENT_MAX) {
                forgotten |= !pair.isWithoutEdits();
                forget(key, pair);
            }
        }
    }

    private void compareAll(StrandPair pair) {
        while (!pair.queue(RECORDED).isEmpty() || !pair.queue(ACTUAL).isEmpty()) {
            compare(pair, true);
        }
    }

    /// Compares windows as long as there is enough of both.
    private void settle(StrandPair pair) {
        while (pair.queue(RECORDED).size() >= WINDOW && pair.queue(ACTUAL).size() >= WINDOW) {
            compare(pair, false);
        }
    }

    /// Compares what waits on both sides; what is near the windows' ends keeps waiting, unless nothing more
    /// comes.
    private void compare(StrandPair pair, boolean last) {
        List<Token> recorded = head(pair.queue(RECORDED));
        List<Token> actual = head(pair.queue(ACTUAL));
        boolean whole = last
                && recorded.size() == pair.queue(RECORDED).size()
                && actual.size() == pair.queue(ACTUAL).size();
        List<AnchoredDiff.Hunk> hunks = AnchoredDiff.of(canons(recorded), canons(actual), rare(recorded));
        int a = 0;
        int b = 0;
        for (AnchoredDiff.Hunk hunk : hunks) {
            boolean early = hunk.expectedTo() <= recorded.size() / 2 && hunk.actualTo() <= actual.size() / 2;
            boolean first = hunk.expectedFrom() == 0 && hunk.actualFrom() == 0;
            if (!whole && !early && !first) {
                take(pair, recorded, actual, a, hunk.expectedFrom(), b, null);
                drop(pair, hunk.expectedFrom(), hunk.actualFrom());
                return;
            }
            take(pair, recorded, actual, a, hunk.expectedFrom(), b, hunk);
            a = hunk.expectedTo();
            b = hunk.actualTo();
        }
        take(pair, recorded, actual, a, recorded.size(), b, null);
        drop(pair, recorded.size(), actual.size());
    }

    /// Agrees on a range and adds the hunk after it, if there is one.
    private void take(
            StrandPair pair,
            List<Token> recorded,
            List<Token> actual,
            int a,
            int aEnd,
            int b,
            AnchoredDiff.@Nullable Hunk hunk) {
        for (int i = a; i < aEnd; i++) {
            agree(pair, recorded.get(i), actual.get(b + i - a));
        }
        if (hunk != null && !isAtCut(pair, hunk, recorded.size(), actual.size())) {
            differ(pair, recorded, actual, hunk);
        }
    }

    /// Adds what differs. Events at either end of it that differ only in numbers which happen to be those of
    /// one side's processes, such as names of files that both sides have, agree: what is written is the same.
    private void differ(StrandPair pair, List<Token> recorded, List<Token> actual, AnchoredDiff.Hunk whole) {
        int a = whole.expectedFrom();
        int b = whole.actualFrom();
        int aEnd = whole.expectedTo();
        int bEnd = whole.actualTo();
        while (a < aEnd && b < bEnd && areSameAsWritten(recorded.get(a), actual.get(b))) {
            agree(pair, recorded.get(a++), actual.get(b++));
        }
        while (a < aEnd && b < bEnd && areSameAsWritten(recorded.get(aEnd - 1), actual.get(bEnd - 1))) {
            aEnd--;
            bEnd--;
        }
        if (a < aEnd || b < bEnd) {
            add(pair, recorded, actual, new AnchoredDiff.Hunk(a, aEnd, b, bEnd));
        }
        while (aEnd < whole.expectedTo()) {
            agree(pair, recorded.get(aEnd++), actual.get(bEnd++));
        }
    }

    private static boolean areSameAsWritten(Token recorded, Token actual) {
        return recorded.written() == actual.written();
    }

    private void add(StrandPair pair, List<Token> recorded, List<Token> actual, AnchoredDiff.Hunk hunk) {
        List<Token> expected = kept(recorded, hunk.expectedFrom(), hunk.expectedTo());
        List<Token> found = kept(actual, hunk.actualFrom(), hunk.actualTo());
        pair.add(new Edit(
                expected,
                found,
                hunk.expectedTo() - hunk.expectedFrom(),
                hunk.actualTo() - hunk.actualFrom(),
                Edit.reach(
                        recorded.subList(hunk.expectedFrom() + expected.size(), hunk.expectedTo()),
                        actual.subList(hunk.actualFrom() + found.size(), hunk.actualTo())),
                pair.agreed(),
                hunk.expectedTo() < recorded.size() ? recorded.get(hunk.expectedTo()) : null,
                hunk.actualTo() < actual.size() ? actual.get(hunk.actualTo()) : null));
    }

    /// If one side's tokens were cut off, nothing is known about what follows.
    private static boolean isAtCut(StrandPair pair, AnchoredDiff.Hunk hunk, int recorded, int actual) {
        return pair.isCutOff(RECORDED) && hunk.expectedTo() == recorded
                || pair.isCutOff(ACTUAL) && hunk.actualTo() == actual;
    }

    private List<Token> kept(List<Token> tokens, int from, int to) {
        int room = editTokens < EDIT_TOKENS_MAX ? EDIT_TOKENS : 1;
        List<Token> kept = List.copyOf(tokens.subList(from, Math.min(to, from + room)));
        editTokens += kept.size();
        return kept;
    }

    private void drop(StrandPair pair, int fromRecorded, int fromActual) {
        for (int i = 0; i < fromRecorded; i++) {
            pair.queue(RECORDED).remove();
        }
        for (int i = 0; i < fromActual; i++) {
            pair.queue(ACTUAL).remove();
        }
        pending[RECORDED] -= fromRecorded;
        pending[ACTUAL] -= fromActual;
    }

    private static List<Token> head(Deque<Token> queue) {
        var head = new ArrayList<Token>(Math.min(queue.size(), WINDOW_MAX));
        for (Iterator<Token> i = queue.iterator(); i.hasNext() && head.size() < WINDOW_MAX; ) {
            head.add(i.next());
        }
        return head;
    }

    private static long[] canons(List<Token> tokens) {
        return tokens.stream().mapToLong(Token::canon).toArray();
    }

    private static boolean[] rare(List<Token> tokens) {
        var rare = new boolean[tokens.size()];
        for (int i = 0; i < rare.length; i++) {
            rare[i] = tokens.get(i).sort().isRare();
        }
        return rare;
    }

    /// Too much waits on that side: only the beginnings of the longest strands are kept, and the rest of them
    /// is counted.
    private void relieve(int side) {
        var longest = new ArrayList<>(pairs.values());
        longest.sort(Comparator.comparingInt(pair -> -pair.queue(side).size()));
        for (StrandPair pair : longest) {
            if (pending[side] <= PENDING_MAX / 2) {
                return;
            }
            Deque<Token> queue = pair.queue(side);
            pair.cutOff(side);
            int keep = Math.min(HEAD_MAX, queue.size() / 2);
            while (queue.size() > keep) {
                queue.removeLast();
                pending[side]--;
                cutOff[side]++;
            }
        }
    }

    private void finish() {
        if (closed[RECORDED] || closed[ACTUAL]) {
            // If both records end early, what only one of them has might still have come in the other.
            new Leftovers(pairs.values()).join();
        }
        for (StrandPair pair : List.copyOf(pairs.values())) {
            pair.end(RECORDED);
            pair.end(ACTUAL);
            compareAll(pair);
        }
        if (divergent <= DIVERGENT_MAX) { // else some that differ are no longer here
            turnsTakenOtherwise = new Interleaving(changes, this::agree).settle(pairs.values());
        }
        for (StrandPair pair : pairs.values()) {
            foldedOtherwise |= pair.unfold();
        }
        pairs.values().removeIf(StrandPair::isWithoutEdits);
    }

    /// The pairs that differ somewhere.
    public Collection<StrandPair> divergent() {
        return pairs.values();
    }

    /// Where in the record a difference is: at the recorded event, right after the last one on which both
    /// agree in its strand, or, if the recorded side has no such strand, after about the last one anywhere.
    public long placeOf(Edit edit) {
        Token here = edit.hereExpected();
        if (here != null) {
            return here.index();
        }
        Edit.Agreed agreed = edit.agreed();
        Token other = edit.hereActual();
        return agreed != null ? agreed.expected().index() + 1 : other == null ? 0 : places.of(other.index());
    }

    /// The made-up names that correspond to each other.
    public NamePairs names() {
        return names;
    }

    /// Whether the last names of a recorded path and of one of the other side stand for each other.
    public BiPredicate<Text, Text> standIns(KeyedHash hash) {
        var words = new TextNormalizer(hash, new MadeUpNames(hash, KnownNames.NOTHING), KnownNames.NOTHING);
        return (recorded, actual) -> names.standFor(
                lineages[RECORDED].names().identity(words.lastName(recorded)),
                lineages[ACTUAL].names().identity(words.lastName(actual)));
    }

    /// Whether there were more words or made-up names than are kept.
    public boolean isShortOfWords() {
        return lineages[RECORDED].names().said().isFull()
                || lineages[ACTUAL].names().said().isFull()
                || names.count() > NamePairs.PAIRS_MAX;
    }

    /// What was known about that side's names when it was read.
    public KnownNames known(int side) {
        return known[side];
    }

    /// Events that agreed.
    public long matched() {
        return matched;
    }

    /// Events of that side, compared or not.
    public long events(int side) {
        return events[side];
    }

    /// Whether that side has the event that closes a run.
    public boolean isClosed(int side) {
        return closed[side];
    }

    /// Events of that side that its recorder declared lost, see [Losses#sum].
    public long lost(int side) {
        return lost[side];
    }

    /// Events of that side that are never compared because of their kind.
    public long notCompared(int side) {
        return lineages[side].notCompared();
    }

    /// Whether some differences are not among [#divergent], because memory is short.
    public boolean isShortOfDifferences() {
        return forgotten || cutOff[RECORDED] + cutOff[ACTUAL] > 0;
    }

    /// Whether a recorder of either side says that events are missing.
    public boolean isMissingEvents() {
        return missing || silent[RECORDED] || silent[ACTUAL];
    }

    private static boolean isSilent(EventView event, boolean before) {
        if (event instanceof RecorderView.Noticed noticed && noticed.finding() == Finding.GUEST_SILENT) {
            return true;
        }
        return before && !(event instanceof RecorderView.TracerHeartbeat);
    }

    private static boolean isMissing(EventView event) {
        if (event instanceof RecorderView.Noticed noticed) {
            Finding finding = noticed.finding();
            // A guest that is slow for a while sends what it has later.
            return noticed.meansMissing() && finding != Finding.GUEST_SILENT && finding != Finding.GUEST_BACK;
        }
        return event instanceof RecorderView.Loss loss && loss.lost() > 0;
    }

    /// Whether something was mounted on either side while the agent ran, or may have been in another
    /// namespace, so that a path may be elsewhere than on the guest's disk.
    public boolean isAnythingMounted() {
        return mounts[RECORDED].any() || mounts[ACTUAL].any();
    }

    /// Events of that side that were beyond the bound on memory.
    public long cutOff(int side) {
        return cutOff[side];
    }

    /// The names of the rules without which the sides would not agree.
    public List<String> rules() {
        var rules = new ArrayList<String>();
        String[] lanes = {"process-numbers", "made-up-names", "ephemeral-ports", "kernel-file-sizes"};
        for (int lane = 0; lane < lanes.length; lane++) {
            if ((lanesDiffering >>> 16 * lane & 0xffff) != 0) {
                rules.add(lanes[lane]);
            }
        }
        if (foldedOtherwise) {
            rules.add("folded-reads-and-writes");
        }
        if (turnsTakenOtherwise || lineages[RECORDED].sequence() != lineages[ACTUAL].sequence()) {
            rules.add("interleaving");
        }
        return rules;
    }
}
