package blackbox.query.run;

import blackbox.evidence.parquet.EventFileReader;
import blackbox.evidence.parquet.MalformedParquetException;
import blackbox.evidence.store.DataFile;
import blackbox.evidence.store.LeftOut;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.evidence.text.Timestamps;
import blackbox.evidence.verify.LeafDetail;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.batch.SpoolSegment;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The facts in a run's first and last rows: how it was started, how many events it has, how it ended.
///
/// @param start the content of the first row, or null if there is none
/// @param end the content of the close, or null if there is none
/// @param events the number of rows
/// @param fault why its files could not be read to their end, or null
/// @param leftOut files of the run that are not believed, and events that no file holds
/// @param imported if it came from elsewhere, or null
public record RunFacts(
        RunId run,
        RunState state,
        @Nullable Start start,
        @Nullable End end,
        long events,
        @Nullable String fault,
        List<LeftOut> leftOut,
        @Nullable Imported imported) {

    public RunFacts {
        leftOut = List.copyOf(leftOut);
    }

    /// That it came with `blackbox import`.
    ///
    /// @param trusted whether a key that is trusted here vouches for it
    public record Imported(boolean trusted) {}

    /// The `run.open` row: when, what the user called the run (or null), and its JSON (a missing node where it
    /// has none).
    public record Start(long atNs, @Nullable String name, JsonNode detail) {}

    /// The `run.close` row: when, the agent's exit code or the signal that ended it, and its JSON (a missing node
    /// where it has none).
    public record End(
            long atNs, @Nullable Integer exitCode, @Nullable Integer signal, JsonNode detail) {}

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Set<Column> OF_END =
            Set.of(Column.KIND, Column.AT_NS, Column.EXIT_CODE, Column.SIGNAL, Column.DETAIL);

    /// Reads the facts of `run` from the ends of its files and its spool.
    public static RunFacts read(Recordings recordings, RunId run) throws IOException {
        var collector = new Collector(recordings, run);
        String fault = null;
        try {
            collect(recordings, run, collector);
        } catch (MalformedParquetException e) {
            fault = e.getMessage();
        } catch (NoSuchFileException e) {
            collect(recordings, run, collector); // ingest has replaced it with another file
        }
        return collector.facts(fault);
    }

    /// All runs that are here or should be, by when they began.
    public static List<RunFacts> all(Recordings recordings) throws IOException {
        var all = new ArrayList<RunFacts>();
        for (RunId run : recordings.runs()) {
            all.add(read(recordings, run));
        }
        recordings.missingRuns().forEach((run, begun) -> all.add(missing(run, begun)));
        all.sort(Comparator.comparingLong(RunFacts::startNs).thenComparing(RunFacts::run));
        return all;
    }

    /// The same without this service's own records. Of a run that is missing nobody can say what it was.
    public static List<RunFacts> ofAgents(Recordings recordings) throws IOException {
        return all(recordings).stream()
                .filter(each -> each.service() == null || each.imported() != null)
                .toList();
    }

    private static RunFacts missing(RunId run, Instant begun) {
        var start = new Start(Timestamps.nanos(begun), null, MissingNode.getInstance());
        return new RunFacts(run, RunState.MISSING, start, null, 0, null, List.of(), null);
    }

    private long startNs() {
        return start == null ? run.createdAt().toEpochMilli() * 1_000_000 : start.atNs();
    }

    /// What was started, according to the first row; empty if there is none.
    ///
    /// @throws IllegalArgumentException when that cannot be read
    public RunOpening opening() {
        return RunOpening.of(start == null ? MissingNode.getInstance() : start.detail());
    }

    /// What a list of runs shows of it, read without complaint from whatever the first row has.
    public RunOpening.Summary summary() {
        return RunOpening.summary(start == null ? MissingNode.getInstance() : start.detail());
    }

    /// The same facts, for a run that turned out to be damaged further on.
    public RunFacts withFault(String what) {
        return new RunFacts(run, state, start, end, events, what, leftOut, imported);
    }

    private static void collect(Recordings recordings, RunId run, Collector collector) throws IOException {
        try (RunReader reader = RunReader.open(recordings, run, 0)) {
            if (reader.next()) {
                collector.see(reader.row(), reader.index());
            }
        }
        List<DataFile> files = recordings.committedFiles(run);
        if (!files.isEmpty()) {
            readEnd(files.getLast(), run, collector);
        }
        List<Path> segments = recordings.spoolSegments(run);
        if (!segments.isEmpty()) {
            readSpoolEnd(segments.getLast(), collector);
        }
    }

    private static void readEnd(DataFile file, RunId run, Collector collector) throws IOException {
        try (EventFileReader reader =
                EventFileReader.open(file.open(), run, OF_END).skipToLastGroup()) {
            while (reader.next()) {
                collector.see(reader.row(), reader.index());
            }
        }
    }

    private static void readSpoolEnd(Path segment, Collector collector) throws IOException {
        List<SealedBatch> batches;
        try {
            batches = SpoolSegment.read(Files.readAllBytes(segment)).batches();
        } catch (NoSuchFileException e) {
            return;
        }
        var row = new Row();
        for (SealedBatch batch : batches) {
            LeafCursor leaves = batch.leaves();
            for (long index = batch.firstIndex(); leaves.next(); index++) {
                if (LeafCodec.decode(leaves.array(), leaves.offset(), leaves.offset() + leaves.length(), row)) {
                    collector.see(row, index);
                }
            }
        }
    }

    /// The JSON that a row carries, or a missing node if it has none.
    public static JsonNode detailOf(Row row) {
        if (!row.has(Column.DETAIL)) {
            return MissingNode.getInstance();
        }
        try {
            return JSON.readTree(row.text(Column.DETAIL).toString());
        } catch (JsonProcessingException e) {
            return MissingNode.getInstance();
        }
    }

    /// What there is to say of a run without any event, or null where it has some.
    public @Nullable String ofNoEvents() {
        if (events > 0) {
            return null;
        }
        return switch (state) {
            case MISSING -> "the log of runs has its certificate, and nothing of it is here";
            case TRUNCATED -> "it ended before its first event was kept";
            case OPEN -> "it has not recorded anything yet";
            case CLOSED -> null;
        };
    }

    /// The service whose own record it is, `access`; null for a run of an agent.
    public @Nullable String service() {
        String said =
                start == null ? null : start.detail().path(LeafDetail.SERVICE).textValue();
        return LeafDetail.ACCESS.equals(said) ? said : null;
    }

    /// The user's name for the run, or null.
    public @Nullable String name() {
        return start == null ? null : start.name();
    }

    /// Gathers the facts in passing while somebody reads all rows of a run. Owned by one thread.
    public static final class Collector {
        private final Recordings recordings;
        private final RunId run;
        private final boolean live;
        private @Nullable Start start;
        private @Nullable End end;
        private long events;

        /// To be made before the first row is read: a recorder that ends meanwhile has closed its run, which
        /// the rows may not show yet.
        public Collector(Recordings recordings, RunId run) throws IOException {
            this.recordings = recordings;
            this.run = run;
            this.live = recordings.isLive(run);
        }

        /// Takes the columns `kind`, `at_ns`, `what`, `exit_code`, `signal` and `detail` of a row.
        public void see(Row row, long index) {
            events = Math.max(events, index + 1);
            if (!row.has(Column.KIND) || !row.has(Column.AT_NS)) {
                return;
            }
            long kind = row.number(Column.KIND);
            long atNs = row.number(Column.AT_NS);
            if (index == 0 && start == null) {
                String name = row.has(Column.WHAT) ? row.text(Column.WHAT).toString() : null;
                start = new Start(atNs, name, detailOf(row));
            }
            if (kind == Kind.RUN_CLOSE.code()) {
                end = new End(atNs, number(row, Column.EXIT_CODE), number(row, Column.SIGNAL), detailOf(row));
            }
        }

        private static @Nullable Integer number(Row row, Column column) {
            return row.has(column) ? Integer.valueOf((int) row.number(column)) : null;
        }

        /// The facts as far as rows were seen.
        ///
        /// @param fault why there are no more, or null
        public RunFacts facts(@Nullable String fault) throws IOException {
            RunState state = end != null ? RunState.CLOSED : live ? RunState.OPEN : RunState.TRUNCATED;
            Imported imported =
                    recordings.isImported(run) ? new Imported(recordings.trust().trusts(run)) : null;
            return new RunFacts(run, state, start, end, events, fault, recordings.leftOut(run), imported);
        }
    }
}
