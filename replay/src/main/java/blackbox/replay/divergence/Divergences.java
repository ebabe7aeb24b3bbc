package blackbox.replay.divergence;

import blackbox.evidence.text.Timestamps;
import blackbox.evidence.verify.Losses;
import blackbox.replay.ReplayException;
import blackbox.replay.divergence.align.Agreements;
import blackbox.replay.divergence.align.Aligner;
import blackbox.replay.divergence.align.Edit;
import blackbox.replay.divergence.align.NamePairs;
import blackbox.replay.divergence.align.StrandPair;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.divergence.strand.EventLookup;
import blackbox.replay.divergence.strand.ProcessPairs;
import blackbox.replay.divergence.strand.WholeFlows;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.replay.divergence.text.WordSet;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/// Compares two runs event by event; see the package's documentation for what that means.
public final class Divergences {

    private static final long AROUND_NS = 1_000_000_000L;
    private static final int NAME_CHARS_MAX = 60;

    private Divergences() {}

    /// Aligns `actual` with `recorded`. They are equal if no effect differs; where only the path to the effects
    /// does, the result says how often. In an exact replay every event is an effect.
    ///
    /// Every source is read from its beginning up to seven times. Blocks the thread.
    ///
    /// @param files compares the files that they left behind, if that is known
    public static Alignment align(Side recorded, Side actual, LeftFiles files, AlignmentSettings settings)
            throws IOException, ReplayException {
        return align(recorded, actual, files, settings, Agreements.NOBODY);
    }

    /// The same.
    ///
    /// @param agreements is told which events agree
    public static Alignment align(
            Side recorded, Side actual, LeftFiles files, AlignmentSettings settings, Agreements agreements)
            throws IOException, ReplayException {
        if (settings.exact()) {
            return alignWhole(recorded, actual, files, settings, agreements);
        }
        WholeFlows flows = WholeFlows.of(recorded.events(), actual.events());
        Alignment alignment = alignWhole(
                        recorded.with(flows::recorded), actual.with(flows::actual), files, settings, agreements)
                .with(List.of(WholeFlows.NOT_COMPARED));
        return flows.differ() ? alignment.withRule("flows") : alignment;
    }

    private static Alignment alignWhole(
            Side recorded, Side actual, LeftFiles files, AlignmentSettings settings, Agreements agreements)
            throws IOException, ReplayException {
        var hash = new KeyedHash(settings.hashKey());
        Map<String, String> ids = settings.exact() ? Map.of() : files.ids();
        Aligner aligner =
                Aligner.of(hash, recorded.events(), actual.events(), Aligner.ACTUAL, ids, files.drawn(), agreements);
        boolean ended = withoutCutEnds(aligner);
        boolean cut = ended || aligner.isShortOfDifferences() || aligner.isMissingEvents();
        LeftFiles.Result left = settings.exact() ? null : files.compare(standIns(aligner, hash, recorded, actual));
        var levels = Levels.of(aligner, recorded, actual, left, settings);
        var explanation = new Explanation(hash, recorded, actual, settings);
        DivergencePoint firstPath = !levels.hasEvents() && levels.pathDifferences() > 0
                ? explanation.ofPath(aligner, ids, levels.effects().isEmpty())
                : null;
        DivergencePoint first = null;
        Edit edit = null;
        if (levels.hasEvents()) {
            var explained = explanation.explain(aligner, levels::isEffect);
            edit = explained.edit();
            first = explanation.ofWriters(explained.point(), levels.fileOf(edit));
        } else if (!levels.effects().isEmpty()) {
            first = explanation.ofFile(levels.effects().getFirst(), firstPath);
        }
        var rules = new ArrayList<>(aligner.rules());
        if (levels.pathDifferences() > 0) {
            rules.add("path");
        }
        if (!ids.isEmpty()) {
            rules.add("object-ids");
        }
        if (left != null && left.tied()) {
            rules.add("values");
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
                new Alignment.Differences(levels.pathDifferences(), firstPath, levels.count(), levels.effects(edit)),
                left,
                notCompared(aligner, recorded, actual, left),
                next(recorded, actual, first));
    }

    private static LeftFiles.StandIns standIns(Aligner aligner, KeyedHash hash, Side recorded, Side actual) {
        BiPredicate<Text, Text> names = aligner.standIns(hash);
        var processes = new ProcessPairs(
                new ProcessPairs.Reading(recorded.events(), aligner.known(Aligner.RECORDED), hash),
                new ProcessPairs.Reading(actual.events(), aligner.known(Aligner.ACTUAL), hash));
        return new LeftFiles.StandIns() {
            @Override
            public boolean standFor(Text one, Text other) {
                return names.test(one, other);
            }

            @Override
            public ProcessPairs processes() {
                return processes;
            }
        };
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

    private static List<String> notCompared(
            Aligner aligner, Side recorded, Side actual, LeftFiles.@Nullable Result left) throws IOException {
        var lines = new ArrayList<String>();
        lines.add("heartbeats, reports of tracer and VM, ICMP and link-level frames and the kernel's own threads: "
                + aligner.notCompared(Aligner.RECORDED) + " and " + aligner.notCompared(Aligner.ACTUAL) + " events");
        lines.add("contents of network traffic, values of environment variables: they are not recorded");
        lines.add(
                left == null
                        ? "contents of files: what they are in the end is not known of both"
                        : "contents of files, but those that were left on the disk");
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
            if (side == 0 && aligner.isMissingEvents()) {
                lines.add("what happened meanwhile: a recorder says that events are missing");
            }
            if (aligner.lost(side) > 0) {
                lines.add(sides[side].name() + " declares " + Losses.inWords(aligner.lost(side)) + " events lost");
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
        var one = new EventLookup(recorded.asRecorded());
        var other = new EventLookup(actual.asRecorded());
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
        EventLookup.Facts facts = new EventLookup(side.asRecorded()).facts(index);
        String around = facts == null
                ? ""
                : " --from " + Timestamps.format(facts.atNs() - AROUND_NS) + " --to "
                        + Timestamps.format(facts.atNs() + AROUND_NS);
        return "blackbox events " + side.name() + around;
    }
}
