package blackbox.query.ocsf;

import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.query.export.EventExport;
import blackbox.query.sql.ParquetOfLines;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/// A run as OCSF 1.8 in one Parquet file: the rows are the lines of [OcsfExport] in their order, the columns
/// [OcsfColumns]. Made from those lines, which are in a folder meanwhile.
public final class OcsfParquet {

    /// Of a leaf, which has at most 64 KiB, an octet may become seven, and a text be there six times.
    private static final int LINE_BYTES_MAX = 4 << 20;

    private OcsfParquet() {}

    /// Writes the file.
    ///
    /// @param folder for what is made on the way, in clear; the caller deletes it
    /// @throws QueryException with [Code#ENGINE] if it cannot be made
    public static EventExport.Written write(Recordings recordings, RunId run, Path folder, OutputStream to)
            throws IOException, QueryException {
        Path lines = folder.resolve("events.jsonl.gz");
        Path file = folder.resolve("events.parquet");
        EventExport.Written written;
        try (Writer text = new OutputStreamWriter(
                new GZIPOutputStream(Files.newOutputStream(lines), 1 << 16), StandardCharsets.UTF_8)) {
            written = EventExport.write(recordings, run, new OcsfExport(run, text, OcsfParquet::row));
        }
        convert(run, lines, file);
        Files.delete(lines);
        Files.copy(file, to);
        return written;
    }

    static void convert(RunId run, Path lines, Path file) throws QueryException {
        var columns = new LinkedHashMap<String, String>();
        OcsfColumns.ALL.fields().forEach((name, type) -> columns.put(name, type.sql()));
        ParquetOfLines.write(
                lines,
                LINE_BYTES_MAX,
                columns,
                OcsfColumns.UNMAPPED,
                Map.of("ocsf_version", OcsfEvents.VERSION, "blackbox_run", run.value()),
                file);
    }

    /// Makes an event one that the columns have: `unmapped` becomes a text. An attribute without a column would
    /// silently be left out.
    static ObjectNode row(ObjectNode event) {
        JsonNode unmapped = event.get(OcsfColumns.UNMAPPED);
        if (unmapped != null) {
            event.put(OcsfColumns.UNMAPPED, unmapped.toString());
        }
        List<String> faults = OcsfColumns.ALL.faults(event);
        if (!faults.isEmpty()) {
            throw new IllegalStateException("no column of Parquet for " + faults);
        }
        return event;
    }
}
