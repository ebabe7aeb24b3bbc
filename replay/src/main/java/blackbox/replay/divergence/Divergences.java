package blackbox.replay.divergence;

import blackbox.evidence.text.Timestamps;
import blackbox.replay.divergence.align.Aligner;
import blackbox.replay.divergence.align.Edit;
import blackbox.replay.divergence.align.NamePairs;
import blackbox.replay.divergence.align.NoiseMask;
import blackbox.replay.divergence.align.StrandPair;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.divergence.strand.EventLookup;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.replay.divergence.strand.Strand;
import blackbox.replay.divergence.strand.Token;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.replay.divergence.text.WordSet;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Compares two runs event by event; see the package's documentation for what that means.
public final class Divergences {

    private static final long AROUND_NS = 1_000_000_000L;
    private static final int NAME_CHARS_MAX = 60;

    private Divergences() {}

    /// Aligns `actual` with `recorded`. `again` are further replays: where they differ from `actual`, a
    /// difference between recording and replay means nothing and is left out, which the result reports.
    ///
    /// Every source is read from its beginning up to five times. Blocks the thread.
    public static Alignment align(Side recorded, Side actual, List<EventSource> again, AlignmentSettings settings)
            throws IOException {
        var hash = new KeyedHash(settings.hashKey());
        NoiseMask mask = again.isEmpty() ? null : mask(hash, actual, again);
        Aligner aligner = Aligner.of(hash, recorded.events(), actual.events(), Aligner.ACTUAL);
        int masked = mask == null ? 0 : apply(mask, aligner.divergent());
        boolean cut = withoutCutEnds(aligner);
        Collection<StrandPair> divergent = aligner.divergent();
        DivergencePoint first =
                divergent.isEmpty() ? null : new Explanation(hash, recorded, actual, settings).explain(aligner);
        var rules = new ArrayList<>(aligner.rules());
        if (masked > 0) {
            rules.add("noise-mask");
        }
        if (first != null) {
            rules.clear();
        }
        return new Alignment(
                outcome(first, cut, rules),
                rules,
                aligner.matched(),
                aligner.events(Aligner.RECORDED),
                aligner.events(Aligner.ACTUAL),
                first,
                mask == null ? List.of() : shown(mask, actual),
                notCompared(aligner, recorded, actual),
                next(recorded, actual, first));
    }

    private static Alignment.Outcome outcome(@Nullable DivergencePoint first, boolean cut, List<String> rules) {
        if (first != null) {
            return Alignment.Outcome.DIVERGED;
        }
        if (cut) {
            return Alignment.Outcome.INCOMPLETE;
        }
        return rules.isEmpty() ? Alignment.Outcome.IDENTICAL : Alignment.Outcome.EQUIVALENT;
    }

    private static NoiseMask mask(KeyedHash hash, Side actual, List<EventSource> again) throws IOException {
        var mask = new NoiseMask();
        for (EventSource other : again) {
            mask.learn(
                    Aligner.of(hash, actual.events(), other, Aligner.RECORDED).divergent());
        }
        return mask;
    }

    /// Removes noise; returns how much there was.
    private static int apply(NoiseMask mask, Collection<StrandPair> divergent) {
        int masked = 0;
        for (StrandPair pair : divergent) {
            Strand strand = pair.strand();
            Strand actual = pair.strandOf(Aligner.ACTUAL);
            boolean whole = mask.coversStrand(actual == null ? strand.key() : actual.key())
                    || actual == null && mask.coversStrand(strand.parent());
            if (whole) {
                mask.learnStrand(strand.key());
                masked += pair.edits().size();
                pair.edits().clear();
                continue;
            }
            int before = pair.edits().size();
            long key = actual == null ? strand.key() : actual.key();
            pair.edits().removeIf(edit -> mask.covers(key, edit));
            masked += before - pair.edits().size();
        }
        divergent.removeIf(pair -> pair.edits().isEmpty());
        return masked;
    }

    /// If a record ends without its close, what the other side has after that point is not a divergence.
    private static boolean withoutCutEnds(Aligner aligner) {
        boolean cut = false;
        for (int side : new int[] {Aligner.RECORDED, Aligner.ACTUAL}) {
            if (aligner.isClosed(side)) {
                continue;
            }
            cut = true;
            for (StrandPair pair : aligner.divergent()) {
                pair.edits().removeIf(edit -> isEnd(edit, side));
            }
        }
        aligner.divergent().removeIf(pair -> pair.edits().isEmpty());
        return cut;
    }

    private static boolean isEnd(Edit edit, int side) {
        return (side == Aligner.RECORDED ? edit.hereExpected() : edit.hereActual()) == null;
    }

    private static List<String> shown(NoiseMask mask, Side actual) throws IOException {
        var lines = new ArrayList<String>();
        lines.add(mask.size() + " places differ between replays and are left out");
        var lookup = new EventLookup(actual.events());
        for (Token token : mask.shown()) {
            EventLookup.Facts facts = lookup.facts(token.index());
            if (facts != null) {
                lines.add(facts.line());
            }
        }
        return lines;
    }

    private static List<String> notCompared(Aligner aligner, Side recorded, Side actual) throws IOException {
        var lines = new ArrayList<String>();
        lines.add("heartbeats, reports of tracer and VM, link-level frames and the kernel's own threads: "
                + aligner.notCompared(Aligner.RECORDED) + " and " + aligner.notCompared(Aligner.ACTUAL) + " events");
        lines.add("contents of files and of network traffic, values of environment variables: they are not recorded");
        if (aligner.names().count() > 0) {
            lines.add(standing(aligner.names(), recorded, actual));
        }
        if (aligner.isShortOfWords()) {
            lines.add("letters of made-up names, as far as memory allowed: where there are more than "
                    + WordSet.WORDS_MAX + " words or " + NamePairs.PAIRS_MAX + " such names, the others are compared");
        }
        Side[] sides = {recorded, actual};
        for (int side = 0; side < sides.length; side++) {
            if (!aligner.isClosed(side)) {
                lines.add(sides[side].name() + " was not closed: what happened after its last event is not known");
            }
            if (aligner.lost(side) > 0) {
                lines.add(sides[side].name() + " declares " + aligner.lost(side) + " events lost");
            }
            if (aligner.cutOff(side) > 0) {
                lines.add(aligner.cutOff(side) + " events of " + sides[side].name()
                        + ": the runs differ too much there for the memory limit");
            }
        }
        return lines;
    }

    /// How many made-up names correspond to each other, and the first of them.
    private static String standing(NamePairs names, Side recorded, Side actual) throws IOException {
        var one = new EventLookup(recorded.events());
        var other = new EventLookup(actual.events());
        var shown = new ArrayList<String>();
        for (NamePairs.NamePair pair : names.shown()) {
            shown.add(name(one.facts(pair.recorded())) + " for " + name(other.facts(pair.actual())));
        }
        return "letters of names that programs made up for what they created exclusively: names that stand for each"
                + " other: " + names.count() + " (" + String.join(", ", shown)
                + (names.count() > shown.size() ? ", …)" : ")");
    }

    private static String name(EventLookup.@Nullable Facts facts) {
        String path = facts == null ? null : facts.path();
        if (path == null) {
            return "?";
        }
        String name = path.substring(path.lastIndexOf('/') + 1);
        return name.length() <= NAME_CHARS_MAX ? name : name.substring(0, NAME_CHARS_MAX - 1) + "…";
    }

    private static List<String> next(Side recorded, Side actual, @Nullable DivergencePoint first) throws IOException {
        if (first == null) {
            return List.of();
        }
        return List.of(
                events(recorded, first.index()),
                events(actual, first.actualIndex()),
                "blackbox replay " + recorded.name() + " --to " + first.index());
    }

    /// The events around one, by time.
    private static String events(Side side, long index) throws IOException {
        EventLookup.Facts facts = new EventLookup(side.events()).facts(index);
        String around = facts == null
                ? ""
                : " --from " + Timestamps.format(facts.atNs() - AROUND_NS) + " --to "
                        + Timestamps.format(facts.atNs() + AROUND_NS);
        return "blackbox events " + side.name() + around;
    }
}
