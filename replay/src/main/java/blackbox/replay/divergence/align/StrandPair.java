package blackbox.replay.divergence.align;

import blackbox.replay.divergence.strand.Strand;
import blackbox.replay.divergence.strand.Token;
import blackbox.replay.divergence.strand.Token.Reach;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// One strand on both sides: what has not been matched yet, and where they differed.
public final class StrandPair {

    private static final int EDITS_MAX = 256;
    private static final int FOLDED_MAX = 1_024;

    /// What is known of the strand on either side; null where that side has not shown it.
    private final @Nullable Strand[] strands = new Strand[2];

    private final List<Deque<Token>> queues = List.of(new ArrayDeque<>(), new ArrayDeque<>());
    private final boolean[] ended = new boolean[2];
    private final boolean[] cut = new boolean[2];
    private final List<Edit> edits = new ArrayList<>();
    private final Map<Long, Folded> folded = new LinkedHashMap<>();
    private boolean whole = true;
    /// How far the differences reach that were not kept.
    private Reach dropped = Reach.PATH;
    private @Nullable Token agreedRecorded;
    private @Nullable Token agreedActual;

    /// Differences in folded reads and writes of one file: they may add up to nothing.
    private static final class Folded {
        private final Edit first;
        private long volume;
        private boolean written;
        private final boolean[] sides = new boolean[2];

        Folded(Edit first) {
            this.first = first;
        }
    }

    /// The strand as the recorded side has it, or else as the other side has it.
    public Strand strand() {
        Strand recorded = strands[Aligner.RECORDED];
        Strand other = strands[Aligner.ACTUAL];
        if (recorded != null) {
            return recorded;
        }
        if (other == null) {
            throw new IllegalStateException("a pair has a strand");
        }
        return other;
    }

    /// The strand as that side has it, or null.
    @Nullable
    public Strand strandOf(int side) {
        return strands[side];
    }

    void show(int side, Strand strand) {
        strands[side] = strand;
        strand.attach(this);
    }

    /// Undoes [#show]: what still comes is of another pair.
    void hide() {
        for (Strand strand : strands) {
            if (strand != null) {
                strand.attach(null);
            }
        }
    }

    boolean isShown(int side) {
        return strands[side] != null;
    }

    boolean isOneSided() {
        return strands[0] == null || strands[1] == null;
    }

    Deque<Token> queue(int side) {
        return queues.get(side);
    }

    void end(int side) {
        ended[side] = true;
    }

    boolean hasEnded(int side) {
        return ended[side];
    }

    /// From now on that side's tokens are counted, not kept.
    void cutOff(int side) {
        cut[side] = true;
    }

    boolean isCutOff(int side) {
        return cut[side];
    }

    /// Notes that the sides agree on these, the last so far.
    void agree(Token recorded, Token actual) {
        agreedRecorded = recorded;
        agreedActual = actual;
    }

    /// The last events on which the sides agree; null for none.
    Edit.@Nullable Agreed agreed() {
        return agreedRecorded == null || agreedActual == null ? null : new Edit.Agreed(agreedRecorded, agreedActual);
    }

    boolean isDone() {
        return ended[0] && ended[1] && queues.get(0).isEmpty() && queues.get(1).isEmpty();
    }

    /// The places where the sides differ, in order.
    public List<Edit> edits() {
        return edits;
    }

    boolean isWithoutEdits() {
        return edits.isEmpty() && folded.isEmpty();
    }

    /// Adds a difference. Folded reads and writes are put aside: where they add up to the same, they were only
    /// reported in different portions.
    void add(Edit edit) {
        whole &= edit.isWhole() && edits.size() < EDITS_MAX;
        Edit rest = edit.with(putAside(Aligner.RECORDED, edit), putAside(Aligner.ACTUAL, edit));
        if (edits.size() >= EDITS_MAX) {
            Reach reach = edit.reach();
            dropped = reach.compareTo(dropped) > 0 ? reach : dropped;
        } else if (!rest.expected().isEmpty() || !rest.actual().isEmpty()) {
            edits.add(rest);
        }
    }

    private List<Token> putAside(int side, Edit edit) {
        List<Token> tokens = side == Aligner.RECORDED ? edit.expected() : edit.actual();
        var rest = new ArrayList<Token>(tokens.size());
        for (Token token : tokens) {
            boolean fits = folded.size() < FOLDED_MAX || folded.containsKey(token.subject());
            if (!isFolded(token) || !fits) {
                rest.add(token);
                continue;
            }
            Folded sums = folded.computeIfAbsent(token.subject(), _ -> new Folded(only(edit, token)));
            sums.volume += side == Aligner.RECORDED ? token.volume() : -token.volume();
            sums.written |= token.writes();
            sums.sides[side] = true;
        }
        return rest;
    }

    /// Calls on one file or flow are reported in portions that depend on timing. As long as it is not known what a
    /// made-up name stands for, it is not known which file that is, either.
    private static boolean isFolded(Token token) {
        return (token.sort() == Token.Sort.FILE_IO || token.sort() == Token.Sort.FLOW)
                && token.names().openCount() == 0;
    }

    /// The edit with what it has about one file or flow.
    private static Edit only(Edit edit, Token token) {
        return edit.with(
                edit.expected().stream()
                        .filter(each -> each.subject() == token.subject())
                        .toList(),
                edit.actual().stream()
                        .filter(each -> each.subject() == token.subject())
                        .toList());
    }

    /// Whether all that differs was kept.
    boolean isWhole() {
        return whole && !cut[0] && !cut[1];
    }

    /// How far one of its differences, or one that was not kept, reaches: as far as possible if that is not known.
    public Reach reach(Edit edit) {
        Reach reach = edit.reach();
        Reach unkept = unkept(edit);
        return reach.compareTo(unkept) > 0 ? reach : unkept;
    }

    /// How far what was not kept reaches, of a difference or of all.
    public Reach unkept(Edit edit) {
        if (cut[0] || cut[1]) {
            return Reach.EFFECT;
        }
        return edit.unkept().compareTo(dropped) > 0 ? edit.unkept() : dropped;
    }

    /// Removes tokens that turned out not to be a difference.
    void without(Set<Token> settled) {
        edits.replaceAll(edit -> edit.with(rest(edit.expected(), settled), rest(edit.actual(), settled)));
        edits.removeIf(edit -> edit.expected().isEmpty() && edit.actual().isEmpty());
    }

    private static List<Token> rest(List<Token> tokens, Set<Token> settled) {
        return tokens.stream().filter(token -> !settled.contains(token)).toList();
    }

    /// Moves folded reads and writes of the same file to the first pair that differs there, so that they add up.
    /// Writes are added up only if a single thread on each side used the file: otherwise order matters, which sums
    /// do not show.
    ///
    /// @param changes those that agreed
    static void addUp(long process, List<StrandPair> strands, AgreedChanges changes) {
        Map<Long, List<StrandPair>> users = new LinkedHashMap<>();
        for (StrandPair pair : strands) {
            pair.folded
                    .keySet()
                    .forEach(file ->
                            users.computeIfAbsent(file, _ -> new ArrayList<>()).add(pair));
        }
        users.forEach((file, pairs) -> {
            List<Folded> shares =
                    pairs.stream().map(pair -> pair.folded.get(file)).toList();
            boolean written = shares.stream().anyMatch(share -> share.written);
            if (!written || !changes.isAny(process, file) && isOfOne(shares, 0) && isOfOne(shares, 1)) {
                pairs.forEach(pair -> pair.folded.remove(file));
                pairs.getFirst().folded.put(file, sum(shares));
            }
        });
    }

    private static boolean isOfOne(List<Folded> shares, int side) {
        return shares.stream().filter(share -> share.sides[side]).count() <= 1;
    }

    /// The sum, at the first place that differs.
    private static Folded sum(List<Folded> shares) {
        Folded first =
                shares.stream().filter(share -> share.volume != 0).findFirst().orElse(shares.getFirst());
        first.volume = shares.stream().mapToLong(share -> share.volume).sum();
        return first;
    }

    /// Whether folded differences added up to nothing; those that do not become edits. To be called once, at
    /// the end.
    boolean unfold() {
        boolean tolerated = false;
        for (Folded sums : folded.values()) {
            if (sums.volume == 0) {
                tolerated = true;
            } else {
                unfold(sums.first);
            }
        }
        folded.clear();
        edits.sort((one, two) -> Long.compare(place(one), place(two)));
        return tolerated;
    }

    /// Puts a difference back to the place that it comes from, or at a place of its own.
    private void unfold(Edit difference) {
        for (int i = 0; i < edits.size(); i++) {
            if (edits.get(i).isOfSamePlace(difference)) {
                edits.set(i, edits.get(i).and(difference));
                return;
            }
        }
        edits.add(difference);
    }

    private static long place(Edit edit) {
        Token here = edit.hereExpected();
        Edit.Agreed before = edit.agreed();
        return here != null
                ? here.ordinal()
                : before == null ? 0 : before.expected().ordinal() + 1;
    }
}
