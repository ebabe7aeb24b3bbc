package blackbox.query.sql;

import blackbox.evidence.store.DataFile;
import blackbox.evidence.store.LeftOut;
import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.schemas.RunId;
import blackbox.schemas.table.EventsTable;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.duckdb.DuckDBDriver;
import org.jspecify.annotations.Nullable;

/// An engine over the files that were committed when it was opened, locked down before the first query. Used by
/// one thread at a time.
public final class SqlEngine implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String NO_REASON = "Invalid result set";
    private static final int SQL_CHARS_MAX = 100_000;

    private final Connection connection;
    private final SqlLimits limits;
    private final List<LeftOut> leftOut;
    private List<SqlTables.Table> tables = List.of();

    private SqlEngine(Connection connection, SqlLimits limits, List<LeftOut> leftOut) {
        this.leftOut = leftOut;
        this.connection = connection;
        this.limits = limits;
    }

    /// How a result is made.
    private enum Rows {
        /// While it is read: it may be longer than memory.
        STREAMED,
        /// Before the first row is read: within the limits, or not at all.
        WHOLE
    }

    /// Opens an engine that can read the committed files and nothing else.
    public static SqlEngine open(Recordings recordings, SqlLimits limits) throws QueryException {
        return open(recordings, limits, null, Rows.STREAMED);
    }

    /// The same, for those who must not wait: the limits hold of the whole result, which the driver cannot
    /// interrupt while it is streamed. It must fit into the engine's memory.
    public static SqlEngine ofWholeResults(Recordings recordings, SqlLimits limits) throws QueryException {
        return open(recordings, limits, null, Rows.WHOLE);
    }

    /// Opens an engine that can write into `export` too, for results as files.
    static SqlEngine open(Recordings recordings, SqlLimits limits, @Nullable Path export) throws QueryException {
        return open(recordings, limits, export, Rows.STREAMED);
    }

    private static SqlEngine open(Recordings recordings, SqlLimits limits, @Nullable Path export, Rows rows)
            throws QueryException {
        try {
            List<String> files = committed(recordings);
            var properties = new Properties();
            properties.setProperty(DuckDBDriver.JDBC_STREAM_RESULTS, Boolean.toString(rows == Rows.STREAMED));
            Connection connection = new DuckDBDriver().connect("jdbc:duckdb:", properties);
            if (connection == null) {
                throw new QueryException(Code.ENGINE, "DuckDB did not open");
            }
            var engine = new SqlEngine(connection, limits, leftOut(recordings));
            try {
                engine.lockDown(files, export);
            } catch (SQLException | QueryException e) {
                connection.close();
                throw e;
            }
            return engine;
        } catch (IOException e) {
            throw new QueryException(Code.STORE, "cannot list the recordings in " + recordings.data(), e);
        } catch (SQLException e) {
            throw new QueryException(Code.ENGINE, "the query engine cannot be opened: " + firstLine(e), e);
        }
    }

    private static List<String> committed(Recordings recordings) throws IOException {
        var files = new ArrayList<String>();
        for (RunId run : recordings.runs()) {
            if (!recordings.trust().trusts(run)) {
                continue;
            }
            long next = 0;
            for (DataFile file : recordings.committedFiles(run)) {
                // A file that partly overlaps the one before is an error: its rows would be counted twice.
                // `verify` reports it.
                if (file.name().firstIndex() >= next) {
                    files.add(file.store().location(file.key()));
                    next = file.name().endIndex();
                }
            }
        }
        return files;
    }

    private static List<LeftOut> leftOut(Recordings recordings) throws IOException {
        var leftOut = new ArrayList<LeftOut>();
        for (RunId run : recordings.runs()) {
            if (recordings.trust().trusts(run)) {
                leftOut.addAll(recordings.leftOut(run));
            } else {
                leftOut.add(new LeftOut(
                        run, "all of it", "it was imported, and no key that is trusted here vouches for it"));
            }
        }
        return List.copyOf(leftOut);
    }

    /// What no answer is made from.
    public List<LeftOut> leftOut() {
        return leftOut;
    }

    /// Order matters: the views bind while files can be opened, and the configuration is locked last.
    private void lockDown(List<String> files, @Nullable Path export) throws SQLException, QueryException {
        try (Statement statement = connection.createStatement()) {
            bound(statement, limits.memoryMiBMax(), limits.threadsMax());
            statement.execute("SET TimeZone = 'UTC'");
            // Every view binds to all files; their footers are read once.
            statement.execute("SET parquet_metadata_cache = true");
            tables = SqlTables.over(files, columns(statement, files));
            for (SqlTables.Table table : tables) {
                statement.execute("CREATE VIEW " + table.name() + " AS " + table.definition());
            }
            String paths = files.stream().map(SqlTables::quoted).collect(Collectors.joining(", "));
            statement.execute("SET allowed_paths = [" + paths + "]");
            statement.execute(
                    "SET allowed_directories = [" + (export == null ? "" : SqlTables.quoted(export.toString())) + "]");
            close(statement);
        }
    }

    /// Sets what an engine may take, and that it loads nothing.
    static void bound(Statement statement, int memoryMiBMax, int threadsMax) throws SQLException {
        statement.execute("SET memory_limit = '" + memoryMiBMax + "MiB'");
        statement.execute("SET threads = " + threadsMax);
        statement.execute("SET temp_directory = ''");
        statement.execute("SET autoinstall_known_extensions = false");
        statement.execute("SET autoload_known_extensions = false");
    }

    /// Closes it to all but what was allowed before, for good.
    static void close(Statement statement) throws SQLException {
        statement.execute("SET enable_external_access = false");
        statement.execute("SET lock_configuration = true");
    }

    /// The columns that the files have together. A column that is not known here would silently be left out
    /// of every answer, so it is an error.
    private static Set<String> columns(Statement statement, List<String> files) throws SQLException, QueryException {
        var columns = new HashSet<String>();
        try (ResultSet result = statement.executeQuery("DESCRIBE SELECT * FROM " + SqlTables.source(files))) {
            while (result.next()) {
                columns.add(result.getString(1));
            }
        }
        for (String column : columns) {
            if (EventsTable.COLUMNS.stream().noneMatch(known -> known.name().equals(column))) {
                throw new QueryException(
                        Code.STORE,
                        "the recordings have a column `" + column + "` that this version of Blackbox does not know: a"
                                + " newer version wrote them; query them with that version or a later one");
            }
        }
        return columns;
    }

    /// The same, of the first rows only, without making the others.
    public void selectFirst(String sql, long rowsMax, ResultSink sink) throws QueryException, IOException {
        requireSelect(sql);
        select("SELECT * FROM (\n" + alone(sql) + "\n) LIMIT " + rowsMax, sink);
    }

    private static String alone(String sql) {
        return sql.strip().replaceAll(";+$", "");
    }

    /// Runs one `SELECT` and passes its result to `sink`.
    ///
    /// @throws QueryException with [Code#BAD_INPUT] if it is not a `SELECT` or is wrong, [Code#ENGINE] if it
    ///     takes too long or too much memory
    public void select(String sql, ResultSink sink) throws QueryException, IOException {
        requireSelect(sql);
        selectOwn(sql, sink);
    }

    /// The same with a statement that Blackbox made itself, however long it is.
    public void selectOwn(String sql, ResultSink sink) throws QueryException, IOException {
        long startedNs = System.nanoTime();
        try (Statement statement = connection.createStatement();
                var deadline = QueryDeadline.over(statement, limits.timeout());
                ResultSet result = statement.executeQuery(sql)) {
            ResultRows.give(result, sink, deadline);
        } catch (SQLException e) {
            QueryException explained = explain(e, startedNs);
            boolean unexplained = String.valueOf(e.getMessage()).contains(NO_REASON)
                    && System.nanoTime() - startedNs < limits.timeout().toNanos();
            throw unexplained ? explain(reason(sql, e), startedNs) : explained;
        }
    }

    /// A streamed result loses the reason for its failure; running the query again, only for its profile,
    /// reveals it.
    private SQLException reason(String sql, SQLException unexplained) {
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout((int) limits.timeout().toSeconds());
            statement.executeQuery("EXPLAIN ANALYZE " + sql).close();
            return unexplained;
        } catch (SQLException e) {
            return e;
        }
    }

    /// A text in SQL.
    public static String quoted(String text) {
        return SqlTables.quoted(text);
    }

    /// Makes a table beside the recordings' for as long as the engine is open.
    ///
    /// @param columns their names and types, as in `CREATE TABLE`
    public OwnTable table(String name, String columns) throws QueryException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE " + name + " (" + columns + ")");
            return OwnTable.of(connection, name);
        } catch (SQLException e) {
            throw new QueryException(Code.ENGINE, firstLine(e), e);
        }
    }

    /// Writes the result of one `SELECT` as a Parquet file. The engine must have been opened for that folder.
    void export(String sql, Path file) throws QueryException {
        requireSelect(sql);
        long startedNs = System.nanoTime();
        String select = alone(sql);
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout((int) limits.timeout().toSeconds());
            statement.execute("COPY (" + select + "\n) TO " + SqlTables.quoted(file.toString())
                    + " (FORMAT parquet, COMPRESSION zstd)");
        } catch (SQLException e) {
            throw explain(e, startedNs);
        }
    }

    /// Describes the tables: each with its columns and their types.
    public List<TableDescription> tables() throws QueryException {
        var described = new ArrayList<TableDescription>();
        try (Statement statement = connection.createStatement()) {
            for (SqlTables.Table table : tables) {
                var columns = new ArrayList<TableDescription.ColumnDescription>();
                try (ResultSet result = statement.executeQuery("DESCRIBE " + table.name())) {
                    while (result.next()) {
                        columns.add(new TableDescription.ColumnDescription(result.getString(1), result.getString(2)));
                    }
                }
                described.add(new TableDescription(table.name(), table.description(), columns));
            }
            return described;
        } catch (SQLException e) {
            throw new QueryException(Code.ENGINE, firstLine(e), e);
        }
    }

    /// DuckDB's own parser decides: it serialises `SELECT` statements and no others.
    private void requireSelect(String sql) throws QueryException {
        if (sql.isBlank() || sql.length() > SQL_CHARS_MAX || sql.indexOf('\0') >= 0) {
            throw new QueryException(
                    Code.BAD_INPUT, "a query is one SELECT of at most " + SQL_CHARS_MAX + " characters");
        }
        JsonNode parsed = parse(sql);
        if (parsed.path("error").asBoolean(true)) {
            String why = parsed.path("error_message").asText("");
            boolean syntax = parsed.path("error_type").asText("").equals("parser");
            throw new QueryException(
                    Code.BAD_INPUT, syntax ? "the query cannot be parsed: " + why : "only SELECT is allowed: " + why);
        }
        if (parsed.path("statements").size() != 1) {
            throw new QueryException(
                    Code.BAD_INPUT,
                    "only one query at a time is allowed; there are "
                            + parsed.path("statements").size());
        }
    }

    private JsonNode parse(String sql) throws QueryException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT json_serialize_sql(?::VARCHAR)")) {
            statement.setString(1, sql);
            try (ResultSet result = statement.executeQuery()) {
                if (!result.next()) {
                    throw new QueryException(Code.ENGINE, "the query engine's parser gave no answer");
                }
                return JSON.readTree(result.getString(1));
            }
        } catch (SQLException | JsonProcessingException e) {
            throw new QueryException(Code.BAD_INPUT, "the query cannot be parsed: " + firstLine(e), e);
        }
    }

    /// The error for a failed query. The driver's message for one that was stopped does not say so; the clock
    /// does.
    private QueryException explain(SQLException e, long startedNs) {
        String message = firstLine(e);
        if (System.nanoTime() - startedNs >= limits.timeout().toNanos()) {
            String stopped = "the query took longer than " + limits.timeout().toSeconds() + " s and was stopped";
            return new QueryException(Code.ENGINE, stopped, e);
        }
        boolean engine = message.startsWith("Out of Memory")
                || message.startsWith("IO Error")
                || message.startsWith("INTERNAL")
                || message.startsWith("INTERRUPT");
        return new QueryException(engine ? Code.ENGINE : Code.BAD_INPUT, message, e);
    }

    static String firstLine(Exception e) {
        String message = e.getMessage();
        return message == null
                ? e.getClass().getSimpleName()
                : message.lines().findFirst().orElse("");
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            // An in-memory database has nothing to lose.
        }
    }
}
