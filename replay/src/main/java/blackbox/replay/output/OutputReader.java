package blackbox.replay.output;

import blackbox.evidence.store.Recordings;
import blackbox.query.answer.EventFilter;
import blackbox.query.answer.EventStream;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunState;
import blackbox.recorder.capture.OutputPiece;
import blackbox.recorder.capture.PrintedStream;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.Moment;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.ShredMark;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Gives what a run's command printed, piece by piece, from what is sealed and was checked. One object, one
/// answer, by one thread.
public final class OutputReader {

    private static final EventFilter SEALS =
            new EventFilter(Set.of(Kind.VM_CAPTURE), Long.MIN_VALUE, Long.MAX_VALUE, null);

    private final Recordings recordings;
    private final RunId run;
    private final Set<PrintedStream> wanted;
    private final Map<PrintedStream, Long> given = new EnumMap<>(PrintedStream.class);

    /// @param wanted at least one; of several the pieces come in the order in which they were received
    public OutputReader(Recordings recordings, RunId run, Set<PrintedStream> wanted) {
        this.recordings = recordings;
        this.run = run;
        this.wanted = EnumSet.copyOf(wanted);
        this.wanted.forEach(stream -> given.put(stream, 0L));
    }

    /// Takes what was printed.
    public interface Sink {
        void piece(OutputPiece piece) throws IOException;

        /// There is nothing new for now: a good moment to flush.
        void idle() throws IOException;
    }

    /// What was given.
    ///
    /// @param recorded what the run says of it
    /// @param bytes how many octets of each wanted stream
    /// @param limits why that may not be all; empty if it is all that there was
    public record Answer(RecordedOutput recorded, Map<PrintedStream, Long> bytes, List<OutputLimit> limits) {
        public Answer {
            limits = List.copyOf(limits);
        }

        /// What became of the run.
        public RunState state() {
            return recorded.facts().state();
        }
    }

    /// Gives what is there. Everything is checked before any of it is given.
    ///
    /// @param at only what had been printed by then; null for all
    /// @throws ReplayException `BAD_INPUT` when the run had no such stream, or `at` is outside of it; `MISSING`,
    ///     `ALTERED` when what was sealed is not here, or not as it was
    public Answer read(@Nullable Moment at, Sink sink) throws ReplayException, IOException {
        Answer refused = refused();
        if (refused != null) {
            return refused;
        }
        long untilNs = at == null ? Long.MAX_VALUE : at.timeNs(recordings, run);
        var facts = RunFacts.read(recordings, run);
        var recorded = new RecordedOutput(facts, SealedCapture.readAll(recordings, run));
        for (PrintedStream stream : wanted) {
            SealedCapture capture = recorded.capture(stream);
            if (capture != null) {
                capture.check();
            }
        }
        try (var pieces = pieces()) {
            pieces.extend(recorded.captures());
            OutputPiece piece = pieces.next();
            while (piece != null && piece.atNs() <= untilNs) {
                give(piece, sink);
                piece = pieces.next();
            }
            PrintedStream later = piece == null ? null : piece.stream();
            return answer(recorded, stream -> stream != later && pieces.isExhausted(stream));
        }
    }

    /// Gives what is there, and what follows until the run's close, or until its recorder is gone and nothing has come
    /// for [EventStream#PATIENCE]. Blocks the thread, which must be one that may block.
    ///
    /// @throws ReplayException as [#read]
    public Answer follow(Sink sink) throws ReplayException, IOException, InterruptedException {
        Answer refused = refused();
        if (refused != null) {
            return refused;
        }
        var seals = new SealedCapture.Collector(recordings, run);
        try (var pieces = pieces();
                var events = EventStream.following(recordings, run, SEALS, 0)) {
            for (EventStream.Step step = events.next(); step != EventStream.Step.END; step = events.next()) {
                if (step == EventStream.Step.EVENT) {
                    seals.see(events.row(), events.index());
                    continue;
                }
                pieces.extend(seals.captures());
                for (OutputPiece piece = pieces.nextInTurn(); piece != null; piece = pieces.nextInTurn()) {
                    give(piece, sink);
                }
                sink.idle();
                Thread.sleep(EventStream.POLL);
            }
            pieces.extend(seals.captures());
            for (OutputPiece piece = pieces.next(); piece != null; piece = pieces.next()) {
                give(piece, sink);
            }
            return answer(new RecordedOutput(RunFacts.read(recordings, run), seals.captures()), _ -> true);
        }
    }

    /// Which streams were given to their end.
    @FunctionalInterface
    private interface Ended {
        boolean has(PrintedStream stream) throws ReplayException;
    }

    private Answer answer(RecordedOutput recorded, Ended ended) throws ReplayException {
        var limits = new ArrayList<OutputLimit>();
        for (PrintedStream stream : wanted) {
            OutputLimit limit = recorded.limit(stream, given.getOrDefault(stream, 0L));
            if (limit != null && ended.has(stream)) {
                limits.add(limit);
            }
        }
        return new Answer(recorded, given, limits);
    }

    private @Nullable Answer refused() throws ReplayException, IOException {
        var recorded = new RecordedOutput(RunFacts.read(recordings, run), Map.of());
        ShredMark mark = PayloadKeyFile.vault(new DataFolder(recordings.data())).shredded(run);
        try {
            OutputLimit limit =
                    mark == null ? recorded.unkept() : new OutputLimit(OutputLimit.Kind.SHREDDED, null, mark.text());
            if (limit != null) {
                return new Answer(recorded, given, List.of(limit));
            }
            if (recorded.hasTerminal() && !wanted.contains(PrintedStream.STDOUT)) {
                throw new ReplayException(
                        Code.BAD_INPUT,
                        "the command of run " + run
                                + " had a terminal, on which both streams are one: leave out --stderr");
            }
            return null;
        } catch (IllegalArgumentException e) {
            throw new ReplayException(
                    Code.ALTERED, "what run " + run + " was started with cannot be read: " + e.getMessage(), e);
        }
    }

    private PrintedPieces pieces() {
        return new PrintedPieces(wanted, name -> Payload.of(recordings, run, name));
    }

    private void give(OutputPiece piece, Sink sink) throws IOException {
        given.merge(piece.stream(), (long) piece.bytes(), Long::sum);
        sink.piece(piece);
    }
}
