package blackbox.query.sql;

import blackbox.query.QueryException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;
import org.jspecify.annotations.Nullable;

/// A table that is filled for a question and gone with its [engine][SqlEngine]. Its rows are there once it is closed.
public final class OwnTable implements AutoCloseable {
    /// Rows wait outside of the engine's limit until then.
    private static final long FLUSH_CHARS = 16 << 20;

    private final Connection connection;
    private final DuckDBAppender appender;
    private long waiting;

    private OwnTable(Connection connection, DuckDBAppender appender) {
        this.connection = connection;
        this.appender = appender;
    }

    /// @param engine whose result may be read meanwhile: rows go in over another connection
    static OwnTable of(Connection engine, String name) throws SQLException {
        DuckDBConnection own = engine.unwrap(DuckDBConnection.class).duplicate();
        try {
            return new OwnTable(own, own.createAppender("main", name));
        } catch (SQLException e) {
            own.close();
            throw e;
        }
    }

    /// Appends a row.
    ///
    /// @param values null, [Long], [Integer] or [String], a value for each column
    /// @throws IOException when the engine does not take it; its cause is the [QueryException] that says why
    public void add(@Nullable Object... values) throws IOException {
        try {
            appender.beginRow();
            for (Object value : values) {
                switch (value) {
                    case null -> appender.appendNull();
                    case Long number -> appender.append(number.longValue());
                    case Integer number -> appender.append(number.intValue());
                    default -> {
                        String text = value.toString();
                        waiting += text.length();
                        appender.append(text);
                    }
                }
            }
            appender.endRow();
            if (waiting > FLUSH_CHARS) {
                appender.flush();
                waiting = 0;
            }
        } catch (SQLException e) {
            throw new IOException(failed(e));
        }
    }

    @Override
    public void close() throws QueryException {
        try (connection) {
            appender.close();
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    private static QueryException failed(SQLException e) {
        return new QueryException(
                QueryException.Code.ENGINE, "the query engine did not take what was read: " + e.getMessage(), e);
    }
}
