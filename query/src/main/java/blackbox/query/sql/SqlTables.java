package blackbox.query.sql;

import blackbox.schemas.table.EventsTable;
import blackbox.schemas.table.TableColumn;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// The tables that queries see, as DuckDB views over the sealed files.
final class SqlTables {

    /// A table's name, what a row of it is, and the view's definition.
    record Table(String name, String description, String definition) {}

    private SqlTables() {}

    /// The tables over these files, each of which may use those before it.
    ///
    /// @param columns the names of the columns that the files have together, see [#source]; the others are
    /// null
    static List<Table> over(List<String> files, Set<String> columns) {
        return List.of(
                new Table("events", "every event, as the columns that were sealed", events(files, columns)),
                new Table(
                        "runs",
                        "one row for each run; lost is what was declared (null if that is beyond 2^63), and only verify"
                                + " says whether that is all",
                        RUNS),
                new Table("files", "one row for each path that a run touched", FILES),
                new Table("processes", "one row for each program that a process executed", PROCESSES),
                new Table("egress", "one row for each pair of endpoints between which traffic was seen", EGRESS));
    }

    /// All rows of the files, of which some may have been written before a column was added.
    static String source(List<String> files) {
        return files.isEmpty()
                ? "(SELECT " + nothing() + " WHERE false)"
                : "read_parquet([" + files.stream().map(SqlTables::quoted).collect(Collectors.joining(", "))
                        + "], hive_partitioning = false, union_by_name = true)";
    }

    private static String events(List<String> files, Set<String> columns) {
        String selected = EventsTable.COLUMNS.stream()
                .map(column -> columns.contains(column.name()) ? "\"" + column.name() + "\"" : missing(column))
                .collect(Collectors.joining(", "));
        return "SELECT " + selected + ", make_timestamp_ns(at_ns) AS time, pid || '@' || start_ns AS process FROM "
                + source(files);
    }

    private static String missing(TableColumn column) {
        return "NULL::" + type(column) + " AS \"" + column.name() + "\"";
    }

    private static String nothing() {
        return EventsTable.COLUMNS.stream().map(SqlTables::missing).collect(Collectors.joining(", "));
    }

    private static String type(TableColumn column) {
        return switch (column.type()) {
            case INT -> "INTEGER";
            case LONG -> "BIGINT";
            case STRING -> "VARCHAR";
            case BINARY -> "BLOB";
            case STRING_LIST -> "VARCHAR[]";
        };
    }

    static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    /// A guest can make the numbers that are summed here and below as large as it likes: a sum that is no BIGINT is
    /// null, so that it does not end every query of the table.
    private static final String RUNS = """
            SELECT run,
                any_value(what) FILTER (kind = 'run.open') AS name,
                min(time) AS started_at,
                max(time) FILTER (kind = 'run.close') AS ended_at,
                bool_or(kind = 'run.close') AS closed,
                any_value(json_extract_string(try_cast(detail AS JSON), '$.tier')) FILTER (kind = 'run.open') AS tier,
                any_value(json_extract_string(try_cast(detail AS JSON), '$.image.name')) FILTER (kind = 'run.open') AS image,
                any_value(json_extract_string(try_cast(detail AS JSON), '$.image.digest')) FILTER (kind = 'run.open')
                    AS image_digest,
                count(*) AS events,
                try_cast(coalesce(sum(lost) FILTER (kind = 'recorder.loss'), 0) AS BIGINT) AS lost,
                list_sort(list_distinct(list(what) FILTER (kind = 'recorder.finding'))) AS findings,
                any_value(exit_code) FILTER (kind = 'run.close') AS exit_code
            FROM events GROUP BY run""";

    /// `FileEffect` in SQL: 512 is open(2)'s O_TRUNC, 2097152 its O_PATH, 2 is renameat2(2)'s RENAME_EXCHANGE.
    private static final String FILES = """
            SELECT run, path,
                bool_or(kind = 'file.io' AND (coalesce(reads, 0) > 0 OR coalesce(bytes_read, 0) > 0)) AS read,
                bool_or(kind IN ('file.truncate', 'file.allocate', 'exchanged')
                    OR kind = 'file.io' AND (coalesce(writes, 0) > 0 OR coalesce(bytes_written, 0) > 0)
                    OR kind = 'file.open' AND coalesce(created, 0) <> 1
                        AND (coalesce(flags, 0) & 512) <> 0 AND (coalesce(flags, 0) & 2097152) = 0) AS written,
                bool_or(kind IN ('file.mkdir', 'file.symlink', 'file.mknod', 'led here')
                    OR kind = 'file.open' AND coalesce(created, 0) = 1) AS created,
                bool_or(kind IN ('file.unlink', 'file.rmdir', 'file.rename')) AS deleted,
                try_cast(coalesce(sum(bytes_read), 0) AS BIGINT) AS bytes_read,
                try_cast(coalesce(sum(bytes_written), 0) AS BIGINT) AS bytes_written,
                bool_or(kind IN ('file.open', 'file.close', 'file.io')) AS opened,
                bool_or(kind IN ('file.chmod', 'file.chown', 'file.utime', 'file.chattr', 'file.xattr')) AS attributes_changed,
                bool_or(kind = 'file.mmap') AS mapped_for_writing,
                min(time) AS first_at, max(time) AS last_at,
                bool_or(actor IS DISTINCT FROM 'supervisor') AS by_agent,
                list_sort(list_distinct(list(comm) FILTER (comm IS NOT NULL))) AS programs
            FROM (
                SELECT run, path,
                    CASE WHEN kind = 'file.rename' AND (coalesce(flags, 0) & 2) <> 0 THEN 'exchanged' ELSE kind END AS kind,
                    time, flags, created, reads, writes, bytes_read, bytes_written, actor, comm
                FROM events
                WHERE kind LIKE 'file.%' AND kind <> 'file.link' AND (kind = 'file.io' OR coalesce(ret, 0) >= 0)
                UNION ALL
                SELECT run, path_to,
                    CASE WHEN kind = 'file.rename' AND (coalesce(flags, 0) & 2) <> 0 THEN 'exchanged' ELSE 'led here' END,
                    time, NULL, NULL, NULL, NULL, NULL, NULL, actor, comm
                FROM events
                WHERE kind IN ('file.rename', 'file.link') AND coalesce(ret, 0) >= 0)
            WHERE path LIKE '/%' OR regexp_matches(path, '^[a-z0-9-]+\\[[0-9]+:[0-9]+\\]/')
            GROUP BY run, path""";

    private static final String PROCESSES = """
            SELECT e.run, e.process, e.actor, e.pid, e.ppid, e.time AS executed_at, e.exe, e.argv, e.cwd, e.uid,
                x.exit_code, x.signal, x.time AS ended_at
            FROM events e
            LEFT JOIN (
                SELECT run, process, any_value(exit_code) AS exit_code, any_value(signal) AS signal, max(time) AS time
                FROM events WHERE kind = 'process.exit' GROUP BY run, process) x
            ON x.run = e.run AND x.process = e.process
            WHERE e.kind = 'process.exec' AND coalesce(e.ret, 0) >= 0""";

    private static final String EGRESS = """
            SELECT run, protocol, local_ip, local_port, remote_ip, remote_port, any_value(host) AS host,
                try_cast(coalesce(sum(bytes_out) FILTER (source = 'host'), sum(bytes_out)) AS BIGINT) AS bytes_out,
                try_cast(coalesce(sum(bytes_in) FILTER (source = 'host'), sum(bytes_in)) AS BIGINT) AS bytes_in,
                bool_or(source = 'guest') AS seen_by_guest,
                bool_or(source = 'host') AS seen_by_host
            FROM events WHERE kind = 'net.flow' AND NOT starts_with(coalesce(remote_ip, ''), '127.')
                AND coalesce(remote_ip, '') <> '::1'
            GROUP BY run, protocol, local_ip, local_port, remote_ip, remote_port""";
}
