package blackbox.replay.divergence.align;

import static blackbox.replay.divergence.align.Aligner.ACTUAL;
import static blackbox.replay.divergence.align.Aligner.RECORDED;

import blackbox.replay.divergence.strand.Strand;
import blackbox.replay.divergence.strand.Strand.Kin;
import blackbox.replay.divergence.strand.Token;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/// Pairs the strands that only one side has with those that only the other has: what has the same owner and is the
/// same, and then what is left of each owner, in order. What belongs to a process that was paired so, its threads,
/// flows and children, has another key for that reason alone, and is paired in turn. Owned by one thread.
final class Leftovers {
    private final Collection<StrandPair> pairs;
    /// Processes of the other side, and the recorded ones that they stand for.
    private final Map<Long, Long> standIns = new HashMap<>();

    Leftovers(Collection<StrandPair> pairs) {
        this.pairs = pairs;
    }

    void join() {
        boolean more = true;
        while (more) {
            boolean same = joinBy(kin -> kin);
            more = same || joinBy(Kin::anyOf);
        }
    }

    /// Whether any were paired.
    private boolean joinBy(UnaryOperator<Kin> what) {
        Map<Kin, List<StrandPair>> actual = new HashMap<>();
        for (StrandPair pair : onlyOn(ACTUAL)) {
            Strand strand = pair.strand();
            Kin kin = strand.kin(standIns.getOrDefault(strand.owner(), strand.owner()));
            actual.computeIfAbsent(what.apply(kin), _ -> new ArrayList<>()).add(pair);
        }
        boolean any = false;
        for (StrandPair pair : onlyOn(RECORDED)) {
            Strand strand = pair.strand();
            List<StrandPair> others = actual.get(what.apply(strand.kin(strand.owner())));
            if (others != null && !others.isEmpty()) {
                join(pair, others.removeFirst());
                any = true;
            }
        }
        return any;
    }

    /// Those that only this side has, by their first events.
    private List<StrandPair> onlyOn(int side) {
        return pairs.stream()
                .filter(pair -> pair.isShown(side)
                        && !pair.isShown(1 - side)
                        && !pair.queue(side).isEmpty())
                .sorted(Comparator.comparingLong(pair -> first(pair.queue(side).peek())))
                .toList();
    }

    private static long first(Token token) {
        return token == null ? Long.MAX_VALUE : token.index();
    }

    private void join(StrandPair pair, StrandPair other) {
        Strand strand = other.strand();
        if (strand.sort() == Strand.Sort.PROCESS) {
            standIns.put(strand.key(), pair.strand().key());
        }
        pair.show(ACTUAL, strand);
        pair.queue(ACTUAL).addAll(other.queue(ACTUAL));
        other.queue(ACTUAL).clear();
    }
}
