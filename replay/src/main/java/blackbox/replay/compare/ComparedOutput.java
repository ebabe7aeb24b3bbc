package blackbox.replay.compare;

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
import blackbox.replay.divergence.cause.Causes;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.divergence.cause.UneventfulCauses;
import blackbox.replay.output.OutputDifference;
import blackbox.replay.output.OutputDifference.How;
import blackbox.replay.output.OutputLimit;
import blackbox.replay.output.OutputMatch;
import blackbox.replay.output.PieceInput;
import blackbox.replay.output.RecordedOutput;
import blackbox.replay.output.ReplayedOutput;
import blackbox.replay.output.SameWords;
import blackbox.replay.request.Difference;
import blackbox.replay.verdict.FirstDivergence;
import blackbox.replay.verdict.Levels;
import blackbox.replay.verdict.Refusal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What the command printed, as it was recorded and in a re-execution or another run.
///
/// @param compared what was found to be equal, in words
/// @param notCompared what could not be compared, and why
/// @param differs the stream that differs, of two the one that differs first; null if neither does
/// @param where the recorded piece that has the first octet that differs; null if neither differs, or if the
///     recording ends there
/// @param turned whether the stream that differs has the same words on both sides, in another order
/// @param extent whether both were compared to their ends
public record ComparedOutput(
        List<String> compared,
        List<String> notCompared,
        @Nullable OutputMatch differs,
        @Nullable OutputPiece where,
        boolean turned,
        Levels.Extent extent) {
    public ComparedOutput {
        compared = List.copyOf(compared);
        notCompared = List.copyOf(notCompared);
    }

    /// The side that the recording is compared with.
    public interface Other {

        /// The octets of a stream.
        ///
        /// @param beganNs when the first may have been printed at the earliest
        PieceInput open(PrintedStream stream, long beganNs) throws IOException;

        /// The match, with what is known of this side's stream beyond the octets that were compared.
        OutputMatch whole(OutputMatch match);

        /// Why nothing can be compared with it, as a clause; null if it can.
        @Nullable
        String unkept();

        /// Why it may have printed more than so many octets of a stream, as a clause; null if these are all.
        @Nullable
        String limit(PrintedStream stream, long bytes);

        /// A re-execution.
        ///
        /// @param byItself whether its command came to its end
        static Other of(ReplayedOutput replayed, boolean byItself) {
            return new Other() {
                @Override
                public PieceInput open(PrintedStream stream, long beganNs) throws IOException {
                    return replayed.open(stream, beganNs);
                }

                @Override
                public OutputMatch whole(OutputMatch match) {
                    return match.with(replayed.all(match.stream()));
                }

                @Override
                public @Nullable String unkept() {
                    return null;
                }

                @Override
                public @Nullable String limit(PrintedStream stream, long bytes) {
                    return byItself ? null : stream.inWords() + " after " + bytes + " octets: the replay was ended";
                }
            };
        }

        /// Another recorded run.
        static Other of(RecordedOutput run) {
            return new Other() {
                @Override
                public PieceInput open(PrintedStream stream, long beganNs) {
                    return run.open(stream, beganNs);
                }

                @Override
                public OutputMatch whole(OutputMatch match) {
                    return match;
                }

                @Override
                public @Nullable String unkept() {
                    OutputLimit unkept = run.unkept();
                    return unkept == null ? null : unkept.text();
                }

                @Override
                public @Nullable String limit(PrintedStream stream, long bytes) {
                    OutputLimit limit = run.limit(stream, bytes);
                    return limit == null ? null : limit.text();
                }
            };
        }
    }

    /// When either command began, before which it printed nothing; nanoseconds since 1970 on the clock of its guest, or
    /// [PieceInput#BEGAN_UNKNOWN].
    public record Began(long recordedNs, long replayedNs) {
        public static final Began UNKNOWN = new Began(PieceInput.BEGAN_UNKNOWN, PieceInput.BEGAN_UNKNOWN);

        /// Of two runs, as they say when they close.
        static Began of(RunFacts one, RunFacts other) {
            return new Began(startNs(one), startNs(other));
        }

        private static long startNs(RunFacts facts) {
            RunFacts.End end = facts.end();
            return end == null
                    ? PieceInput.BEGAN_UNKNOWN
                    : end.detail().path("clock").path("startNs").asLong(PieceInput.BEGAN_UNKNOWN);
        }
    }

    /// How many octets of each stream must be kept of a re-execution to compare it; 0 if there is nothing to
    /// compare it with.
    public static long bytesNeeded(RecordedOutput recorded) {
        long needed = recorded.unkept() == null ? 1 : 0;
        for (PrintedStream stream : PrintedStream.values()) {
            SealedCapture capture = recorded.capture(stream);
            needed += capture == null ? 0 : capture.sealedBytes();
        }
        return needed;
    }

    /// What is wrong with the recorded output, so that nothing could be compared with it; null if nothing is.
    public static @Nullable Refusal refusal(RecordedOutput recorded) {
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
    /// @param values which values in the recording stand for which on the other side
    /// @throws IOException when either cannot be read
    public static ComparedOutput of(RecordedOutput recorded, Other other, Began began, KnownTies values)
            throws IOException {
        OutputLimit unkept = recorded.unkept();
        String why = unkept == null ? other.unkept() : unkept.text();
        if (why != null) {
            return new ComparedOutput(
                    List.of(), List.of("what the command printed: " + why), null, null, false, Levels.Extent.PART);
        }
        var lines = new Lines(recorded, other);
        OutputMatch first = null;
        OutputPiece where = null;
        for (PrintedStream stream : PrintedStream.values()) {
            OutputMatch match = match(stream, recorded, other, began, values);
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
        boolean turned = first != null && isTurned(first.stream(), recorded, other);
        return new ComparedOutput(lines.compared, lines.notCompared, first, where, turned, lines.compared());
    }

    private static boolean isTurned(PrintedStream stream, RecordedOutput recorded, Other other) throws IOException {
        try (PieceInput expected = recorded.open(stream);
                PieceInput actual = other.open(stream, PieceInput.BEGAN_UNKNOWN)) {
            return SameWords.in(expected, actual);
        }
    }

    private static OutputMatch match(
            PrintedStream stream, RecordedOutput recorded, Other other, Began began, KnownTies values)
            throws IOException {
        // Before it is compared: opening it ends the keeping.
        try (PieceInput expected = recorded.open(stream, began.recordedNs());
                PieceInput actual = other.open(stream, began.replayedNs())) {
            return other.whole(OutputMatch.of(stream, expected, actual, new Origins(expected, actual, values)));
        }
    }

    /// Collects what there is to say of each stream.
    private static final class Lines {
        private final RecordedOutput recorded;
        private final Other other;
        private final List<String> compared = new ArrayList<>();
        private final List<String> notCompared = new ArrayList<>();
        private boolean tied;
        private boolean part;

        Lines(RecordedOutput recorded, Other other) {
            this.recorded = recorded;
            this.other = other;
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
            say(
                    "durations on " + stream.inWords() + ", none longer than its side's command had run",
                    match.durations());
            say("numbers of processes on " + stream.inWords() + " that stand for each other", match.processes());
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
            String otherLimit = other.limit(stream, match.actual().bytes());
            if (difference == null && limit == null && otherLimit == null) {
                if (match.expected().bytes() > 0 || stream == PrintedStream.STDOUT) {
                    compared.add(stream.inWords() + ", " + match.expected().bytes() + " octets");
                }
                sayTied(match);
                return true;
            }
            How how = difference == null ? null : difference.how();
            boolean recordingEnds = limit != null && how != How.OTHER && how != How.SHORTER;
            boolean otherEnds = otherLimit != null && how != How.OTHER && how != How.LONGER;
            if (!recordingEnds && !otherEnds) {
                return false;
            }
            part = true;
            sayTied(match);
            long bytes = difference == null ? match.expected().bytes() : difference.octet();
            compared.add(stream.inWords() + ", its first " + bytes + " octets");
            notCompared.add(limit == null || !recordingEnds ? String.valueOf(otherLimit) : limit.text());
            return true;
        }
    }

    /// The divergence of a verdict: that of the events, with what was printed; or that of what was printed alone.
    ///
    /// @param why finds out why that differs
    /// @throws IOException when the run's events cannot be read
    public @Nullable FirstDivergence divergence(
            @Nullable FirstDivergence ofEvents, UneventfulCauses why, Recordings recordings, RunFacts facts)
            throws IOException {
        OutputMatch match = differs;
        OutputDifference difference = match == null ? null : match.difference();
        if (match == null || difference == null) {
            return ofEvents;
        }
        if (ofEvents != null) {
            return ofEvents.with(difference);
        }
        Difference octets = match.octets();
        var around = octets == null
                ? new UneventfulCauses.Octets("", "", 0, turned)
                : new UneventfulCauses.Octets(
                        octets.recorded(), octets.replayed(), (int) (octets.at() - octets.from()), turned);
        Causes.Found found = why.ofOutput(around);
        return FirstDivergence.of(index(recordings, facts), difference, found);
    }

    /// Index of the last event before what differs was printed: what `output --at` shows of it is without that.
    private long index(Recordings recordings, RunFacts facts) throws IOException {
        return where == null
                ? Math.max(0, facts.events() - 1)
                : Moment.lastBefore(recordings, facts.run(), where.atNs());
    }
}
