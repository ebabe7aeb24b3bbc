package blackbox.query.export;

import blackbox.evidence.text.Timestamps;
import blackbox.query.answer.EventJson;
import blackbox.query.run.RunFacts;
import blackbox.query.sql.CsvResult;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A line of CSV for every event, as [CsvResult] writes it: its index, its time, and every column under its
/// name; lists as arrays of JSON.
public final class CsvExport implements EventExport {

    private static final int CHECKED_EVERY = 1_000;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final PrintWriter to;
    private final CsvResult out;

    public CsvExport(PrintWriter to) {
        this.to = to;
        out = new CsvResult(to);
        var names = new ArrayList<String>(List.of("index", "at"));
        for (Column column : Column.values()) {
            names.add(column.columnName());
        }
        out.columns(names);
    }

    @Override
    public void see(EventView event, long index) throws IOException {
        Row row = event.row();
        var values = new ArrayList<@Nullable Object>();
        values.add(index);
        values.add(row.has(Column.AT_NS) ? Timestamps.format(event.atNs()) : null);
        for (Column column : Column.values()) {
            values.add(row.has(column) ? value(row, column) : null);
        }
        out.row(values);
        if (index % CHECKED_EVERY == 0) {
            requireWritten();
        }
    }

    /// A [PrintWriter] remembers only that something failed.
    private void requireWritten() throws IOException {
        if (to.checkError()) {
            throw new IOException("not all of it could be written; is the disk full?");
        }
    }

    private static Object value(Row row, Column column) throws IOException {
        return switch (column.type()) {
            case INT, LONG ->
                column == Column.KIND || column == Column.SOURCE
                        ? EventJson.name(row, column)
                        : (Object) row.number(column);
            case BYTES -> EventJson.hex(row, column);
            case STRING -> row.text(column).toString();
            case STRING_LIST ->
                JSON.writeValueAsString(
                        row.list(column).stream().map(Text::toString).toList());
        };
    }

    @Override
    public void end(RunFacts facts, List<String> limits) throws IOException {
        out.end();
        requireWritten();
    }
}
