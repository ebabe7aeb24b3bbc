package blackbox.replay.compare;

import blackbox.evidence.store.Recordings;
import blackbox.query.run.RunFacts;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.divergence.Alignment;
import blackbox.replay.divergence.AlignmentSettings;
import blackbox.replay.divergence.DivergencePoint;
import blackbox.replay.divergence.Divergences;
import blackbox.replay.divergence.LeftFiles;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.divergence.cause.UneventfulCauses;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.replay.output.OutputMatch;
import blackbox.replay.output.RecordedOutput;
import blackbox.replay.verdict.FirstDivergence;
import blackbox.replay.verdict.Levels;
import blackbox.replay.verdict.Levels.Equivalence;
import blackbox.replay.verdict.Refusal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Two recorded runs beside each other, on the same two levels as a replay and its recording: what was done, left
/// and printed.
///
/// @param alignment of their events, with what else differs
/// @param equivalence in what they are equal; null if they are not, or if that is not known
/// @param compared what was compared beside the events, in words
public record ComparedRuns(Alignment alignment, @Nullable Equivalence equivalence, List<String> compared) {

    public ComparedRuns {
        compared = List.copyOf(compared);
    }

    /// Compares them. Blocks the thread.
    ///
    /// @throws ReplayException when something is not what was sealed
    public static ComparedRuns of(Recordings recordings, RunFacts one, RunFacts other, AlignmentSettings settings)
            throws IOException, ReplayException {
        try (ComparedFiles files = ComparedFiles.ofRuns(recordings, one, other)) {
            return of(recordings, one, other, files, settings);
        }
    }

    private static ComparedRuns of(
            Recordings recordings, RunFacts one, RunFacts other, ComparedFiles files, AlignmentSettings settings)
            throws IOException, ReplayException {
        Side recorded = RecordedSide.of(recordings, one.run());
        Side actual = RecordedSide.of(recordings, other.run());
        Alignment alignment = Divergences.align(recorded, actual, files, settings)
                .with(files.notCompared())
                .with(files.rules());
        var compared = new ArrayList<>(files.compared());
        Printed first = Printed.of(recordings, one);
        Printed second = Printed.of(recordings, other);
        String why = first.why() == null ? second.why() : first.why();
        if (why != null) {
            return new ComparedRuns(alignment.with(List.of("what the commands printed: " + why)), null, compared);
        }
        ComparedOutput output = ComparedOutput.of(
                first.output(), ComparedOutput.Other.of(second.output()), ComparedOutput.Began.of(one, other), files);
        compared.addAll(output.compared());
        var causes = new UneventfulCauses(new KeyedHash(settings.hashKey()), recorded, actual);
        Alignment all = with(alignment.with(output.notCompared()), output, causes, recordings, one);
        return new ComparedRuns(all, equivalence(all, output.extent()), compared);
    }

    /// What a run keeps of what was printed, or why that cannot be compared.
    private record Printed(RecordedOutput output, @Nullable String why) {
        static Printed of(Recordings recordings, RunFacts facts) throws IOException, ReplayException {
            var output = new RecordedOutput(facts, SealedCapture.readAll(recordings, facts.run()));
            try {
                Payload.refuseShredded(recordings, facts.run());
            } catch (ReplayException e) {
                return new Printed(output, e.getMessage());
            }
            Refusal refusal = output.unkept() == null ? ComparedOutput.refusal(output) : null;
            return new Printed(output, refusal == null ? null : refusal.what() + ": " + refusal.actual());
        }
    }

    /// The alignment, with what was printed otherwise as one more effect.
    private static Alignment with(
            Alignment alignment, ComparedOutput output, UneventfulCauses causes, Recordings recordings, RunFacts one)
            throws IOException {
        OutputMatch differs = output.differs();
        if (differs == null) {
            return output.extent() == Levels.Extent.ALL_BUT_VALUES ? alignment.withRule("values") : alignment;
        }
        DivergencePoint ofEvents = alignment.firstDivergence();
        FirstDivergence first = ofEvents == null ? output.divergence(null, causes, recordings, one) : null;
        return alignment.with(
                Levels.of(differs.difference()),
                first == null
                        ? ofEvents
                        : new DivergencePoint(
                                first.index(),
                                0,
                                first.kind(),
                                first.expected(),
                                first.actual(),
                                first.causes(),
                                null,
                                List.of(),
                                List.of()));
    }

    private static @Nullable Equivalence equivalence(Alignment alignment, Levels.Extent printed) {
        LeftFiles.Result left = alignment.left();
        if (!alignment.holds() || left == null || printed == Levels.Extent.PART) {
            return null;
        }
        boolean path = alignment.differences().path() == 0 && !left.tied() && printed == Levels.Extent.ALL;
        return path ? Equivalence.PATH : Equivalence.EFFECTS;
    }
}
