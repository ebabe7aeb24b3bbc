package blackbox.query.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.query.QueryException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ParquetOfLinesTest {

    private static final int LINE_BYTES_MAX = 1 << 20;

    @TempDir
    Path folder;

    private Path lines;
    private Path file;

    @BeforeEach
    void setUp() {
        lines = folder.resolve("lines.gz");
        file = folder.resolve("rows.parquet");
    }

    private void write(List<String> texts) throws Exception {
        try (Writer out =
                new OutputStreamWriter(new GZIPOutputStream(Files.newOutputStream(lines)), StandardCharsets.UTF_8)) {
            for (String text : texts) {
                out.write(text + "\n");
            }
        }
        ParquetOfLines.write(
                lines, LINE_BYTES_MAX, Map.of("n", "BIGINT", "s", "VARCHAR", "j", "VARCHAR"), "j", Map.of(), file);
    }

    /// More than the engine may hold at once.
    @Test
    void manyLongRowsAreWrittenInTheirOrder() throws Exception {
        String text = "x".repeat(100_000);
        int rows = 6_000;
        write(IntStream.range(0, rows)
                .mapToObj(i -> "{\"n\": " + i + ", \"s\": \"" + text + "\"}")
                .toList());
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SELECT count(*), count(*) FILTER (n = file_row_number),"
                        + " min(length(s)) FROM read_parquet('" + file + "', file_row_number = true)")) {
            result.next();
            assertEquals(rows, result.getInt(1));
            assertEquals(rows, result.getInt(2));
            assertEquals(text.length(), result.getInt(3));
        }
    }

    /// What DuckDB says of it has the value.
    @Test
    void anErrorDoesNotQuoteTheRows() {
        Exception refused = assertThrows(QueryException.class, () -> write(List.of("{\"j\": \"{secret\"}")));
        assertTrue(String.valueOf(refused.getCause()).contains("secret"), () -> String.valueOf(refused.getCause()));
        assertFalse(
                String.valueOf(refused.getMessage()).contains("secret"), () -> String.valueOf(refused.getMessage()));
    }
}
