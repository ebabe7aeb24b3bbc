package blackbox.ingest;

import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.table.EventsTable;
import blackbox.schemas.table.TableColumn;
import java.nio.file.Path;
import java.sql.Array;
import java.sql.Blob;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads data files with DuckDB, which shares no code with what wrote them: the tests' oracle.
public final class DuckRows {

    private DuckRows() {}

    /// A row as read back: its index, its leaf, and its checkpoint.
    public record ReadRow(
            String run,
            long index,
            byte[] leaf,
            boolean raw,
            @Nullable String checkpoint) {}

    /// All rows of the files, by run and index, each leaf taken from `raw` or else encoded from the columns.
    public static List<ReadRow> read(List<Path> files) throws SQLException {
        var rows = new ArrayList<ReadRow>();
        if (files.isEmpty()) {
            return rows;
        }
        String list =
                String.join(", ", files.stream().map(file -> "'" + file + "'").toList());
        String from = " FROM read_parquet([" + list + "], hive_partitioning = false)";
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            List<TableColumn> used = usedColumns(statement, from);
            String columns =
                    String.join(", ", used.stream().map(TableColumn::name).toList());
            try (ResultSet result = statement.executeQuery(
                    "SELECT run, index, raw, checkpoint, " + columns + from + " ORDER BY run, index")) {
                while (result.next()) {
                    rows.add(row(result, used));
                }
            }
        }
        return rows;
    }

    /// The leaf columns that have a value in some row; the others would only take time.
    private static List<TableColumn> usedColumns(Statement statement, String from) throws SQLException {
        List<TableColumn> columns = EventsTable.COLUMNS.stream()
                .filter(column -> column.source() != null)
                .toList();
        String counts = String.join(
                ", ",
                columns.stream().map(column -> "count(" + column.name() + ")").toList());
        var used = new ArrayList<TableColumn>();
        try (ResultSet result = statement.executeQuery("SELECT " + counts + from)) {
            result.next();
            for (int i = 0; i < columns.size(); i++) {
                if (result.getLong(i + 1) > 0 || columns.get(i).source() == Column.KIND) {
                    used.add(columns.get(i));
                }
            }
        }
        return used;
    }

    private static ReadRow row(ResultSet result, List<TableColumn> used) throws SQLException {
        Blob raw = result.getBlob(EventsTable.RAW.name());
        byte[] leaf = raw == null ? leaf(result, used) : raw.getBytes(1, (int) raw.length());
        return new ReadRow(
                result.getString(EventsTable.RUN.name()),
                result.getLong(EventsTable.INDEX.name()),
                leaf,
                raw != null,
                result.getString(EventsTable.CHECKPOINT.name()));
    }

    private static byte[] leaf(ResultSet result, List<TableColumn> used) throws SQLException {
        var row = new Row();
        for (TableColumn column : used) {
            Column source = column.source();
            if (source != null && result.getObject(column.name()) != null) {
                set(row, source, column, result);
            }
        }
        var octets = new byte[LeafCodec.size(row)];
        LeafCodec.encode(row, octets, 0);
        return octets;
    }

    private static void set(Row row, Column source, TableColumn column, ResultSet result) throws SQLException {
        switch (column.type()) {
            case INT, LONG -> row.set(source, result.getLong(column.name()));
            case STRING -> {
                String text = result.getString(column.name());
                if (source == Column.KIND) {
                    row.set(source, kindCode(text));
                } else if (source == Column.SOURCE) {
                    row.set(source, text.equals("guest") ? Source.GUEST.code() : Source.HOST.code());
                } else {
                    row.set(source, text);
                }
            }
            case BINARY -> {
                Blob blob = result.getBlob(column.name());
                byte[] octets = blob.getBytes(1, (int) blob.length());
                row.set(source, octets, 0, octets.length);
            }
            case STRING_LIST -> {
                Array array = result.getArray(column.name());
                row.set(
                        source,
                        Arrays.stream((Object[]) array.getArray())
                                .map(element -> Text.of(String.valueOf(element)))
                                .toList());
            }
        }
    }

    private static int kindCode(String name) {
        Kind kind = Kind.ofName(name);
        if (kind == null) {
            throw new AssertionError("no kind is named " + name);
        }
        return kind.code();
    }
}
