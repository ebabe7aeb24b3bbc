package blackbox.query.answer;

import blackbox.evidence.text.Timestamps;
import blackbox.query.run.RunFacts;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.ListCursor;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.table.EventsTable;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/// One event as a JSON object in the form of the command-line contract.
///
/// Columns become fields in camel case; addresses, marks and the process become objects. A text that is not
/// UTF-8 is shown with U+FFFD, and its octets are added in base64 as `<field>Bytes`.
public final class EventJson {

    private static final Map<Column, String> FIELDS = fields();

    private EventJson() {}

    private static Map<Column, String> fields() {
        var fields = new EnumMap<Column, String>(Column.class);
        for (Column column : Column.values()) {
            fields.put(column, camelCase(column.columnName()));
        }
        fields.put(Column.PATH_TO, "to");
        // These have a form of their own, below.
        List.of(
                        Column.KIND,
                        Column.AT_NS,
                        Column.SOURCE,
                        Column.PID,
                        Column.TID,
                        Column.PPID,
                        Column.START_NS,
                        Column.COMM,
                        Column.PARENT_START_NS,
                        Column.LOCAL_IP,
                        Column.LOCAL_PORT,
                        Column.REMOTE_IP,
                        Column.REMOTE_PORT,
                        Column.CREATED,
                        Column.CAPS,
                        Column.CAPS_TO,
                        Column.DETAIL,
                        Column.TRUNCATED)
                .forEach(fields::remove);
        return fields;
    }

    private static String camelCase(String name) {
        var field = new StringBuilder();
        for (int i = 0; i < name.length(); i++) {
            boolean raised = i > 0 && name.charAt(i - 1) == '_';
            if (name.charAt(i) != '_') {
                field.append(raised ? Character.toUpperCase(name.charAt(i)) : name.charAt(i));
            }
        }
        return field.toString();
    }

    /// Writes the event at `index` as one object.
    public static void write(JsonGenerator out, long index, Row row) throws IOException {
        out.writeStartObject();
        out.writeNumberField("index", index);
        if (row.has(Column.AT_NS)) {
            out.writeStringField("at", Timestamps.format(row.number(Column.AT_NS)));
        }
        if (row.has(Column.SOURCE)) {
            out.writeStringField("source", name(row, Column.SOURCE));
        }
        out.writeStringField("kind", row.has(Column.KIND) ? name(row, Column.KIND) : "unknown");
        process(out, row);
        for (Map.Entry<Column, String> field : FIELDS.entrySet()) {
            if (row.has(field.getKey())) {
                value(out, field.getValue(), row, field.getKey());
            }
        }
        endpoint(out, "local", row, Column.LOCAL_IP, Column.LOCAL_PORT);
        endpoint(out, "remote", row, Column.REMOTE_IP, Column.REMOTE_PORT);
        special(out, row);
        out.writeEndObject();
    }

    /// The name of the row's kind or source, or `unknown-<code>`.
    public static String name(Row row, Column column) {
        String name = EventsTable.nameOf(column, row.number(column));
        return name == null ? "unknown-" + row.number(column) : name;
    }

    /// The octets of a column in hexadecimal.
    public static String hex(Row row, Column column) {
        int from = row.offset(column);
        return HexFormat.of().formatHex(row.array(column), from, from + row.length(column));
    }

    /// The key that names a process within a run, `<pid>@<start>`.
    public static String processKey(long pid, long startNs) {
        return pid + "@" + startNs;
    }

    private static void process(JsonGenerator out, Row row) throws IOException {
        if (!row.has(Column.PID)) {
            return;
        }
        out.writeObjectFieldStart("process");
        if (row.has(Column.START_NS)) {
            out.writeStringField("key", processKey(row.number(Column.PID), row.number(Column.START_NS)));
        }
        for (Column column : List.of(Column.PID, Column.TID, Column.PPID, Column.COMM)) {
            if (row.has(column)) {
                value(out, column.columnName(), row, column);
            }
        }
        if (row.has(Column.PPID) && row.has(Column.PARENT_START_NS)) {
            out.writeStringField("parent", processKey(row.number(Column.PPID), row.number(Column.PARENT_START_NS)));
        }
        out.writeEndObject();
    }

    private static void value(JsonGenerator out, String field, Row row, Column column) throws IOException {
        switch (column.type()) {
            case INT, LONG -> out.writeNumberField(field, row.number(column));
            case BYTES -> out.writeStringField(field, hex(row, column));
            case STRING -> {
                Text text = row.text(column);
                String shown = text.toString();
                out.writeStringField(field, shown);
                if (isLossy(text, shown)) {
                    out.writeBinaryField(field + "Bytes", text.toBytes());
                }
            }
            case STRING_LIST -> list(out, field, row, column);
        }
    }

    private static void list(JsonGenerator out, String field, Row row, Column column) throws IOException {
        List<Text> elements = row.list(column);
        boolean lossy = false;
        out.writeArrayFieldStart(field);
        for (Text element : elements) {
            String shown = element.toString();
            out.writeString(shown);
            lossy |= isLossy(element, shown);
        }
        out.writeEndArray();
        if (lossy) {
            out.writeArrayFieldStart(field + "Bytes");
            for (Text element : elements) {
                out.writeBinary(element.toBytes());
            }
            out.writeEndArray();
        }
    }

    private static boolean isLossy(Text text, String shown) {
        return shown.indexOf('\ufffd') >= 0 && !text.isUtf8();
    }

    private static void endpoint(JsonGenerator out, String field, Row row, Column ip, Column port) throws IOException {
        if (!row.has(ip)) {
            return;
        }
        out.writeObjectFieldStart(field);
        out.writeStringField("ip", row.text(ip).toString());
        if (row.has(port)) {
            out.writeNumberField("port", row.number(port));
        }
        out.writeEndObject();
    }

    private static void special(JsonGenerator out, Row row) throws IOException {
        if (row.has(Column.CREATED)) {
            out.writeBooleanField("created", row.number(Column.CREATED) == 1);
        } else if (row.has(Column.KIND) && row.number(Column.KIND) == Kind.FILE_OPEN.code()) {
            out.writeBooleanField("created", false);
        }
        capabilities(out, "caps", row, Column.CAPS);
        capabilities(out, "capsTo", row, Column.CAPS_TO);
        if (row.has(Column.TRUNCATED)) {
            truncated(out, row);
        }
        if (row.has(Column.DETAIL)) {
            JsonNode detail = RunFacts.detailOf(row);
            if (detail.isMissingNode()) {
                value(out, "detail", row, Column.DETAIL);
            } else {
                copy(out, "detail", detail);
            }
        }
    }

    /// Writes a tree as a field, with the generator's own escapes.
    static void copy(JsonGenerator out, String field, JsonNode node) throws IOException {
        out.writeFieldName(field);
        try (JsonParser parser = node.traverse()) {
            parser.nextToken();
            out.copyCurrentStructure(parser);
        }
    }

    private static void capabilities(JsonGenerator out, String field, Row row, Column column) throws IOException {
        if (row.has(column)) {
            out.writeStringField(field, "%016x".formatted(row.number(column)));
        }
    }

    private static void truncated(JsonGenerator out, Row row) throws IOException {
        out.writeObjectFieldStart("truncated");
        var marks = new ListCursor(row, Column.TRUNCATED);
        while (marks.next()) {
            Mark mark = Mark.parse(
                    Text.copyOf(marks.array(), marks.offset(), marks.length()).toString());
            out.writeNumberField(mark.name(), mark.originalSize());
        }
        out.writeEndObject();
    }

    /// An entry of the `truncated` column, `name=original size`; the size is -1 if it is not a number.
    record Mark(String name, long originalSize) {
        static Mark parse(String text) {
            int split = text.lastIndexOf('=');
            try {
                return new Mark(text.substring(0, Math.max(split, 0)), Long.parseLong(text.substring(split + 1)));
            } catch (NumberFormatException e) {
                return new Mark(text, -1);
            }
        }
    }
}
