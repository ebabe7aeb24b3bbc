package blackbox.evidence.bundle;

import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.table.EventsTable;
import blackbox.schemas.table.TableColumn;
import blackbox.schemas.table.TableType;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/// The numbers and names that one needs to compute leaves from rows, as JSON, from the code that writes them: whoever
/// reads a bundle without Blackbox need not copy them from the pages.
final class FormatTables {

    private static final JsonFactory JSON = new JsonFactory();

    private FormatTables() {}

    /// The files, by name.
    static Map<String, byte[]> all() throws IOException {
        var files = new LinkedHashMap<String, byte[]>();
        files.put("columns.json", json(FormatTables::columns));
        files.put("kinds.json", json(FormatTables::kinds));
        files.put("sources.json", json(FormatTables::sources));
        return files;
    }

    /// Writes one array.
    @FunctionalInterface
    private interface Table {
        void write(JsonGenerator out) throws IOException;
    }

    private static byte[] json(Table table) throws IOException {
        var octets = new ByteArrayOutputStream();
        try (JsonGenerator out = JSON.createGenerator(octets)) {
            out.writeStartArray();
            table.write(out);
            out.writeEndArray();
            out.writeRaw('\n');
        }
        return octets.toByteArray();
    }

    private static void columns(JsonGenerator out) throws IOException {
        for (TableColumn column : EventsTable.COLUMNS) {
            Column source = column.source();
            out.writeStartObject();
            out.writeStringField("name", column.name());
            out.writeNumberField("fieldId", column.fieldId());
            out.writeStringField("type", word(column.type()));
            out.writeBooleanField("required", column.required());
            // How the leaf has it; null for what is not in the leaf.
            out.writeStringField("leaf", source == null ? null : source.type().name());
            out.writeEndObject();
        }
    }

    private static void kinds(JsonGenerator out) throws IOException {
        for (Kind kind : Kind.values()) {
            name(out, kind.code(), kind.eventName());
        }
    }

    private static void sources(JsonGenerator out) throws IOException {
        for (Source source : Source.values()) {
            name(out, source.code(), source.sourceName());
        }
    }

    private static void name(JsonGenerator out, int code, String name) throws IOException {
        out.writeStartObject();
        out.writeNumberField("code", code);
        out.writeStringField("name", name);
        out.writeEndObject();
    }

    private static String word(TableType type) {
        return switch (type) {
            case INT -> "int";
            case LONG -> "long";
            case STRING -> "string";
            case BINARY -> "binary";
            case STRING_LIST -> "list<string>";
        };
    }
}
