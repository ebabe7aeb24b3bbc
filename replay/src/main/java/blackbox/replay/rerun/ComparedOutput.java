package blackbox.replay.rerun;

import blackbox.evidence.store.Recordings;
import blackbox.query.run.RunFacts;
import blackbox.recorder.capture.OutputPiece;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.Moment;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.content.KnownTies;
import blackbox.replay.content.Origins;
import blackbox.replay.content.Tie;
import blackbox.replay.content.Ties;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.output.OutputDifference;
import blackbox.replay.output.OutputDifference.How;
import blackbox.replay.output.OutputLimit;
import blackbox.replay.output.OutputMatch;
import blackbox.replay.output.PieceInput;
import blackbox.replay.output.RecordedOutput;
import blackbox.replay.output.ReplayedOutput;
import blackbox.replay.verdict.FirstDivergence;
import blackbox.replay.verdict.Levels;
import blackbox.replay.verdict.Refusal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What the command printed, as it was recorded and in a re-execution.
///
/// @param compared what was found to be equal, in words
/// @param notCompared what could not be compared, and why
/// @param differs the stream that differs, of two the one that differs first; null if neither does
/// @param where the recorded piece that has the first octet that differs; null if neither differs, or if the
///     recording ends there
/// @param extent whether both were compared to their ends
record ComparedOutput(
        List<String> compared,
        List<String> notCompared,
        @Nullable OutputMatch differs,
        @Nullable OutputPiece where,
        Levels.Extent extent) {
    ComparedOutput {
        compared = List.copyOf(compared);
        notCompared = List.copyOf(notCompared);
    }

    /// How far the re-execution got.
    enum Extent {
        /// To the command's end.
        WHOLE,
        /// The command was ended: it would have printed more.
        ENDED
    }

    /// When either command began, before which it printed nothing; nanoseconds since 1970 on the clock of its guest, or
    /// [PieceInput#BEGAN_UNKNOWN].
    record Began(long recordedNs, long replayedNs) {
        static final Began UNKNOWN = new Began(PieceInput.BEGAN_UNKNOWN, PieceInput.BEGAN_UNKNOWN);
    }

    /// How many octets of each stream must be kept of a re-execution to compare it; 0 if there is nothing to
    /// compare it with.
    static long bytesNeeded(RecordedOutput recorded) {
        long needed = recorded.unkept() == null ? 1 : 0;
        for (PrintedStream stream : PrintedStream.values()) {
            SealedCapture capture = recorded.capture(stream);
            needed += capture == null ? 0 : capture.sealedBytes();
        }
        return needed;
    }

    /// What is wrong with the recorded output, so that nothing could be compared with it; null if nothing is.
    static @Nullable Refusal refusal(RecordedOutput recorded) {
        for (PrintedStream stream : PrintedStream.values()) {
            SealedCapture capture = recorded.capture(stream);
            if (capture == null) {
                continue;
            }
            try {
                capture.check();
            } catch (ReplayException e) {
                return new Refusal(
                        DivergenceClass.RECORDER_GAP,
                        "the captured file " + capture.name() + ", what the command printed",
                        capture.sealedBytes() + " sealed octets",
                        String.valueOf(e.getMessage()),
                        "copy captures/" + recorded.facts().run() + Payload.MEND);
            }
        }
        return null;
    }

    /// Compares.
    ///
    /// @throws IOException when either cannot be read
    ///
    /// @param values which values in the recording stand for which in the replay
    static ComparedOutput of(
            RecordedOutput recorded, ReplayedOutput replayed, Extent extent, Began began, KnownTies values)
            throws IOException {
        OutputLimit unkept = recorded.unkept();
        if (unkept != null) {
            return new ComparedOutput(
                    List.of(), List.of("what the command printed: " + unkept.text()), null, null, Levels.Extent.PART);
        }
        var lines = new Lines(recorded, extent);
        OutputMatch first = null;
        OutputPiece where = null;
        for (PrintedStream stream : PrintedStream.values()) {
            OutputMatch match = match(stream, recorded, replayed, began, values);
            OutputDifference difference = match.difference();
            if (lines.agree(match) || difference == null) {
                continue;
            }
            OutputPiece piece = recorded.pieceWith(stream, difference.octet());
            if (first == null || piece != null && (where == null || piece.number() < where.number())) {
                first = match;
                where = piece;
            }
        }
        return new ComparedOutput(lines.compared, lines.notCompared, first, where, lines.compared());
    }

    private static OutputMatch match(
            PrintedStream stream, RecordedOutput recorded, ReplayedOutput replayed, Began began, KnownTies values)
            throws IOException {
        // Before it is compared: opening it ends the keeping.
        try (PieceInput expected = recorded.open(stream, began.recordedNs());
                PieceInput actual = replayed.open(stream, began.replayedNs())) {
            return OutputMatch.of(stream, expected, actual, new Origins(expected, actual, values))
                    .with(replayed.all(stream));
        }
    }

    /// Collects what there is to say of each stream.
    private static final class Lines {
        private final RecordedOutput recorded;
        private final Extent extent;
        private final List<String> compared = new ArrayList<>();
        private final List<String> notCompared = new ArrayList<>();
        private boolean tied;
        private boolean part;

        Lines(RecordedOutput recorded, Extent extent) {
            this.recorded = recorded;
            this.extent = extent;
        }

        Levels.Extent compared() {
            return part ? Levels.Extent.PART : tied ? Levels.Extent.ALL_BUT_VALUES : Levels.Extent.ALL;
        }

        private void sayTied(OutputMatch match) {
            PrintedStream stream = match.stream();
            say("times on " + stream.inWords() + ", each from when its side printed it", match.times());
            say(
                    "made-up names and ids of git objects on " + stream.inWords() + " that stand for each other",
                    match.names());
        }

        private void say(String what, Ties ties) {
            if (ties.count() > 0) {
                tied = true;
                Tie first = ties.first().getFirst();
                notCompared.add(what + ": " + ties.count() + " (" + first.recorded() + " for " + first.actual() + ")");
            }
        }

        /// Whether the streams agree as far as either goes: one that was cut, or whose command was ended, would
        /// go on.
        boolean agree(OutputMatch match) {
            PrintedStream stream = match.stream();
            OutputDifference difference = match.difference();
            OutputLimit limit = recorded.limit(stream, match.expected().bytes());
            if (difference == null && limit == null && extent == Extent.WHOLE) {
                if (match.expected().bytes() > 0 || stream == PrintedStream.STDOUT) {
                    compared.add(stream.inWords() + ", " + match.expected().bytes() + " octets");
                }
                sayTied(match);
                return true;
            }
            How how = difference == null ? null : difference.how();
            boolean recordingEnds = limit != null && how != How.OTHER && how != How.SHORTER;
            boolean replayEnds = extent == Extent.ENDED && how != How.OTHER && how != How.LONGER;
            if (!recordingEnds && !replayEnds) {
                return false;
            }
            part = true;
            sayTied(match);
            long bytes = difference == null ? match.expected().bytes() : difference.octet();
            compared.add(stream.inWords() + ", its first " + bytes + " octets");
            notCompared.add(
                    limit == null || !recordingEnds
                            ? stream.inWords() + " after " + bytes + " octets: the replay was ended"
                            : limit.text());
            return true;
        }
    }

    /// The divergence of a verdict: that of the events, with what was printed; or that of what was printed alone.
    ///
    /// @throws IOException when the run's events cannot be read
    @Nullable
    FirstDivergence divergence(@Nullable FirstDivergence ofEvents, Recordings recordings, RunFacts facts)
            throws IOException {
        OutputDifference difference = differs == null ? null : differs.difference();
        if (difference == null) {
            return ofEvents;
        }
        if (ofEvents != null) {
            return ofEvents.with(difference);
        }
        return FirstDivergence.of(index(recordings, facts), difference);
    }

    /// Index of the last event before what differs was printed: what `output --at` shows of it is without that.
    private long index(Recordings recordings, RunFacts facts) throws IOException {
        return where == null
                ? Math.max(0, facts.events() - 1)
                : Moment.lastBefore(recordings, facts.run(), where.atNs());
    }
}
