package blackbox.query.access;

import blackbox.evidence.parquet.MalformedParquetException;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.evidence.verify.LeafDetail;
import blackbox.query.run.RunFacts;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Reads the requests out of a record of access, each with its answer, in the order in which they were over; those
/// without an answer come last. Owned by one thread.
public final class AccessEntries {
    private static final int OPEN_MAX = 10_000;

    private final Sink sink;
    private final Map<Long, AccessEntry> open = new LinkedHashMap<>();

    /// Takes what was read.
    public interface Sink {
        void take(AccessEntry entry) throws IOException;
    }

    private AccessEntries(Sink sink) {
        this.sink = sink;
    }

    /// Reads all records of access that were made in a data folder, the oldest first.
    ///
    /// @return which there were, and why one could not be read to its end, by run; null where it could
    public static Map<RunId, @Nullable String> read(Recordings recordings, Sink sink) throws IOException {
        var records = new LinkedHashMap<RunId, @Nullable String>();
        for (RunFacts facts : RunFacts.all(recordings)) {
            if (LeafDetail.ACCESS.equals(facts.service()) && facts.imported() == null) {
                try {
                    read(recordings, facts.run(), sink);
                    records.put(facts.run(), facts.fault());
                } catch (MalformedParquetException e) {
                    records.put(facts.run(), String.valueOf(e.getMessage()));
                }
            }
        }
        return records;
    }

    private static void read(Recordings recordings, RunId record, Sink sink) throws IOException {
        var entries = new AccessEntries(sink);
        try (RunReader reader = RunReader.open(recordings, record, 0)) {
            while (reader.next()) {
                entries.see(record, reader.index(), reader.row());
            }
        } finally {
            for (AccessEntry each : entries.open.values()) {
                sink.take(each);
            }
        }
    }

    private void see(RunId record, long index, Row row) throws IOException {
        Kind kind = row.has(Column.KIND) ? Kind.ofCode(row.number(Column.KIND)) : null;
        if (kind == Kind.ACCESS_REQUEST) {
            request(record, index, row);
        } else if (kind == Kind.ACCESS_ANSWER) {
            JsonNode detail = RunFacts.detailOf(row);
            AccessEntry asked = open.remove(detail.path("number").asLong());
            if (asked != null) {
                long bytes = row.has(Column.BYTES_OUT) ? row.number(Column.BYTES_OUT) : 0;
                sink.take(asked.answered(detail.path("status").asInt(), bytes, text(row, Column.WHAT)));
            }
        }
    }

    private void request(RunId record, long index, Row row) throws IOException {
        JsonNode detail = RunFacts.detailOf(row);
        long number = detail.path("number").asLong();
        AccessEntry before = open.get(number);
        if (before != null) {
            String about = detail.path("run").textValue();
            open.put(
                    number,
                    before.about(
                            about == null ? before.run() : about,
                            detail.path("said").textValue()));
            return;
        }
        String ip = text(row, Column.REMOTE_IP);
        var entry = new AccessEntry(
                record,
                index,
                row.number(Column.AT_NS),
                text(row, Column.HOST),
                detail.path("role").textValue(),
                detail.path("token").textValue(),
                ip == null ? null : ip + ":" + row.number(Column.REMOTE_PORT),
                String.valueOf(text(row, Column.WHAT)),
                detail.path("run").textValue(),
                detail.path("target").textValue(),
                null,
                detail.has("refused") ? Integer.valueOf(detail.path("refused").asInt()) : null,
                null,
                null,
                detail.path("count").asLong(1));
        if (number == 0) {
            sink.take(entry);
            return;
        }
        open.put(number, entry);
        if (open.size() > OPEN_MAX) {
            var all = open.values().iterator();
            AccessEntry oldest = all.next();
            all.remove();
            sink.take(oldest);
        }
    }

    private static @Nullable String text(Row row, Column column) {
        return row.has(column) ? row.text(column).toString() : null;
    }
}
