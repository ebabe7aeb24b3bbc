package blackbox.query.sql;

import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.duckdb.DuckDBDriver;

/// Objects of JSON, one a line, as rows of a Parquet file.
public final class ParquetOfLines {

    private static final int MEMORY_MIB_MAX = 512;
    private static final int ROWS_OF_GROUP_MAX = 24_576;

    /// The rows of a group are in memory at once.
    private static final String BYTES_OF_GROUP_MAX = "32MiB";

    private ParquetOfLines() {}

    /// Writes a file with a row for each line, in their order. DuckDB's reader leaves out what has no column, and
    /// makes a null of what is not there.
    ///
    /// @param lines compressed with gzip; may be looked at, as `file`, by DuckDB alone
    /// @param lineBytesMax of the longest line
    /// @param columns their names, each with its type in DuckDB's SQL
    /// @param json the column whose texts are JSON themselves
    /// @param notes for the file's footer
    /// @throws QueryException with [Code#ENGINE] if it cannot be made
    public static void write(
            Path lines,
            int lineBytesMax,
            Map<String, String> columns,
            String json,
            Map<String, String> notes,
            Path file)
            throws QueryException {
        try (Connection connection = new DuckDBDriver().connect("jdbc:duckdb:", new Properties());
                Statement statement = connection.createStatement()) {
            SqlEngine.bound(statement, MEMORY_MIB_MAX, 1);
            statement.execute("SET allowed_paths = [" + quoted(lines) + ", " + quoted(file) + "]");
            SqlEngine.close(statement);
            statement.execute("COPY (SELECT * REPLACE (" + json + "::JSON AS " + json + ") FROM read_json("
                    + quoted(lines) + ", format = 'newline_delimited', compression = 'gzip', maximum_object_size = "
                    + lineBytesMax + ", columns = " + struct(columns) + ")) TO " + quoted(file)
                    + " (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE " + ROWS_OF_GROUP_MAX
                    + ", ROW_GROUP_SIZE_BYTES '" + BYTES_OF_GROUP_MAX + "', KV_METADATA " + struct(notes) + ")");
        } catch (SQLException e) {
            // What follows may quote what a run holds.
            String why = SqlEngine.firstLine(e).split(" Input:", 2)[0];
            throw new QueryException(Code.ENGINE, "the Parquet file cannot be made by DuckDB: " + why, e);
        }
    }

    private static String quoted(Path path) {
        return SqlTables.quoted(path.toString());
    }

    private static String struct(Map<String, String> fields) {
        return fields.entrySet().stream()
                .map(each -> SqlTables.quoted(each.getKey()) + ": " + SqlTables.quoted(each.getValue()))
                .collect(Collectors.joining(", ", "{", "}"));
    }
}
