package blackbox.query.answer;

import blackbox.evidence.text.Timestamps;
import blackbox.query.run.RunFacts;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.stream.Collectors;

/// One event as one line for people: index, time of day, who saw it, kind, process, and the main values of
/// the kind. Names are as the guest chose them, so whoever prints the line makes it
/// [Printable][blackbox.evidence.text.Printable], once; in JSON it stays as it is.
public final class EventLine {

    private static final int VALUE_CHARS_MAX = 160;
    private static final List<Column> NUMBERS = List.of(
            Column.RET,
            Column.BYTES_READ,
            Column.BYTES_WRITTEN,
            Column.BYTES_OUT,
            Column.BYTES_IN,
            Column.EXIT_CODE,
            Column.SIGNAL,
            Column.UID_TO,
            Column.LOST,
            Column.EVENTS);

    private EventLine() {}

    public static String format(long index, Row row) {
        var line = new StringBuilder();
        line.append("%8d  ".formatted(index));
        line.append(
                row.has(Column.AT_NS)
                        ? Timestamps.format(row.number(Column.AT_NS)).substring(11)
                        : "-");
        line.append("  %-10s".formatted(who(row)));
        line.append("  %-18s".formatted(row.has(Column.KIND) ? EventJson.name(row, Column.KIND) : "unknown"));
        if (row.has(Column.PID)) {
            String comm = row.has(Column.COMM) ? row.text(Column.COMM).toString() : "?";
            line.append("  ")
                    .append(comm)
                    .append('[')
                    .append(row.number(Column.PID))
                    .append(']');
        }
        what(line, row);
        marks(line, row);
        return line.toString();
    }

    /// The main values of the kind alone.
    public static String what(Row row) {
        var line = new StringBuilder();
        what(line, row);
        return line.toString().strip();
    }

    private static void what(StringBuilder line, Row row) {
        subject(line, row);
        for (Column column : NUMBERS) {
            if (row.has(column)) {
                line.append(' ').append(column.columnName()).append('=').append(row.number(column));
            }
        }
    }

    /// Whose act an event is, where that is known; otherwise who saw it.
    static String who(Row row) {
        if (row.has(Column.ACTOR)) {
            return row.text(Column.ACTOR).toString();
        }
        return row.has(Column.SOURCE) ? EventJson.name(row, Column.SOURCE) : "-";
    }

    private static void subject(StringBuilder line, Row row) {
        if (row.has(Column.ARGV)) {
            text(line, row, Column.EXE);
            List<String> argv =
                    row.list(Column.ARGV).stream().map(Text::toString).toList();
            line.append("  ").append(ShownCommand.of(argv, VALUE_CHARS_MAX));
        } else {
            text(line, row, Column.EXE);
        }
        text(line, row, Column.PATH);
        if (row.has(Column.PATH_TO)) {
            line.append(" ->");
            text(line, row, Column.PATH_TO);
        }
        seenAs(line, row);
        text(line, row, Column.PROTOCOL);
        endpoint(line, row, Column.LOCAL_IP, Column.LOCAL_PORT);
        if (row.has(Column.REMOTE_IP)) {
            line.append(" ->");
            endpoint(line, row, Column.REMOTE_IP, Column.REMOTE_PORT);
        }
        text(line, row, Column.HOST);
        text(line, row, Column.WHAT);
        if (is(row, Kind.RECORDER_FINDING)) {
            text(line, row, Column.DETAIL);
        }
        if (is(row, Kind.FILE_CHATTR) && row.has(Column.FLAGS)) {
            line.append(" attributes=0x").append(Long.toHexString(row.number(Column.FLAGS)));
        }
        if (row.has(Column.CONTAINER)) {
            line.append("  in container ").append(row.number(Column.CONTAINER));
        }
        if (is(row, Kind.PROCESS_SIGNAL)) {
            JsonNode to = RunFacts.detailOf(row);
            line.append(to.has("by") ? " by the " + to.path("by").asText() : "")
                    .append(" to ")
                    .append(to.path("name").asText("?"))
                    .append('[')
                    .append(to.path("pid").asLong())
                    .append(']');
        }
    }

    private static boolean is(Row row, Kind kind) {
        return row.has(Column.KIND) && row.number(Column.KIND) == kind.code();
    }

    /// The names by which the process itself saw the files.
    private static void seenAs(StringBuilder line, Row row) {
        if (row.has(Column.PATH) || row.has(Column.EXE)) {
            for (JsonNode path : RunFacts.detailOf(row).path("seenAs")) {
                line.append("  as ").append(ShownCommand.cut(path.asText(), VALUE_CHARS_MAX));
            }
        }
    }

    private static void text(StringBuilder line, Row row, Column column) {
        if (row.has(column)) {
            line.append("  ").append(ShownCommand.cut(row.text(column).toString(), VALUE_CHARS_MAX));
        }
    }

    private static void endpoint(StringBuilder line, Row row, Column ip, Column port) {
        if (row.has(ip)) {
            String address = row.text(ip).toString();
            String shown = address.indexOf(':') < 0 ? address : "[" + address + "]";
            line.append(' ').append(shown);
            if (row.has(port)) {
                line.append(':').append(row.number(port));
            }
        }
    }

    private static void marks(StringBuilder line, Row row) {
        for (Column column : List.of(Column.TRUNCATED, Column.UNREAD)) {
            if (row.has(column)) {
                String names = row.list(column).stream().map(Text::toString).collect(Collectors.joining(","));
                line.append(' ')
                        .append(column.columnName())
                        .append('(')
                        .append(names)
                        .append(')');
            }
        }
    }
}
