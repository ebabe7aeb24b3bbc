package blackbox.node.verdict;

import blackbox.evidence.trust.ReplayNote.Outcome;
import blackbox.node.verdict.VerdictLog.StoredVerdict;
import blackbox.replay.divergence.EffectDifference;
import blackbox.replay.verdict.FirstDivergence;
import blackbox.replay.verdict.Levels;
import blackbox.replay.verdict.Levels.Equivalence;
import blackbox.replay.verdict.Verdict;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The union of what several replays of one run differ in, each with how many of them do, and how many are equal at
/// which level. A verdict names at most its first effects, and of the path its first difference.
///
/// @param path how many replays agree in every event
/// @param effects how many agree in all effects, and not in every event
/// @param unknown how many confirm the run without it being known in what
/// @param differences those of effects first, the most frequent first
record DifferenceUnion(long path, long effects, long unknown, List<Seen> differences) {
    private static final Pattern PROCESS_NUMBER = Pattern.compile("\\[\\d+]$");

    DifferenceUnion {
        differences = List.copyOf(differences);
    }

    /// What is told apart.
    enum Level {
        EFFECTS,
        PATH,
        /// The replay came to no result.
        REPLAY;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// A difference that was seen.
    ///
    /// @param kind of effect, or class of the difference in the path, or the outcome
    /// @param subject the file, peer, process or stream; of the path, the recorded event
    /// @param expected what was recorded, null where there is nothing to say
    /// @param actual what the first of the replays did instead
    /// @param replays how many replays have it
    record Seen(
            Level level,
            String kind,
            String subject,
            @Nullable String expected,
            @Nullable String actual,
            long replays) {
        private String key() {
            return level + " " + kind + " " + subject;
        }

        private Seen again() {
            return new Seen(level, kind, subject, expected, actual, replays + 1);
        }
    }

    static DifferenceUnion of(List<StoredVerdict> verdicts) {
        var all = new LinkedHashMap<String, Seen>();
        for (StoredVerdict each : verdicts) {
            Set<String> own = new HashSet<>(); // two processes of one name count once
            for (Seen seen : of(each.verdict())) {
                if (own.add(seen.key())) {
                    all.merge(seen.key(), seen, (old, _) -> old.again());
                }
            }
        }
        var sorted = new ArrayList<>(all.values());
        sorted.sort(Comparator.comparing(Seen::level).thenComparing(Seen::replays, Comparator.reverseOrder()));
        return new DifferenceUnion(
                count(verdicts, Equivalence.PATH), count(verdicts, Equivalence.EFFECTS), count(verdicts, null), sorted);
    }

    private static long count(List<StoredVerdict> verdicts, @Nullable Equivalence equivalence) {
        return verdicts.stream()
                .map(StoredVerdict::verdict)
                .filter(each -> each.outcome().holds() && equivalence(each) == equivalence)
                .count();
    }

    /// What is identical is so in every event, whether its document says it or not.
    private static @Nullable Equivalence equivalence(Verdict verdict) {
        return verdict.outcome() == Outcome.IDENTICAL
                ? Equivalence.PATH
                : verdict.comparison().levels().equivalence();
    }

    private static List<Seen> of(Verdict verdict) {
        var seen = new ArrayList<Seen>();
        Levels levels = verdict.comparison().levels();
        for (EffectDifference each : levels.effects()) {
            seen.add(new Seen(
                    Level.EFFECTS,
                    each.kind().name(),
                    withoutNumber(each.subject()),
                    each.expected(),
                    each.actual(),
                    1));
        }
        FirstDivergence first = verdict.comparison().firstDivergence();
        if (first != null && seen.isEmpty()) {
            seen.add(at(Level.EFFECTS, first));
        }
        FirstDivergence path = levels.firstPath();
        if (path != null) {
            seen.add(at(Level.PATH, path));
        }
        if (verdict.outcome() == Outcome.INCOMPLETE || verdict.outcome() == Outcome.ENGINE_FAILED) {
            seen.add(
                    new Seen(Level.REPLAY, verdict.outcome().name(), String.valueOf(verdict.message()), null, null, 1));
        }
        return seen;
    }

    private static Seen at(Level level, FirstDivergence first) {
        return new Seen(level, first.kind().name(), "event " + first.index(), first.expected(), first.actual(), 1);
    }

    private static String withoutNumber(String subject) {
        return PROCESS_NUMBER.matcher(subject).replaceFirst("");
    }

    /// How many of that level there are.
    long count(Level level) {
        return differences.stream().filter(each -> each.level() == level).count();
    }
}
