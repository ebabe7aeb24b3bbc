package blackbox.query.sql;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;

/// A table that queries may read.
public record TableDescription(String name, String description, List<ColumnDescription> columns) {

    public TableDescription {
        columns = List.copyOf(columns);
    }

    /// Writes it as an object: `table`, `description`, `columns`.
    public void write(JsonGenerator out) throws IOException {
        out.writeStartObject();
        out.writeStringField("table", name);
        out.writeStringField("description", description);
        out.writeArrayFieldStart("columns");
        for (ColumnDescription column : columns) {
            out.writeStartObject();
            out.writeStringField("name", column.name());
            out.writeStringField("type", column.type());
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeEndObject();
    }

    /// Writes the field `tables`.
    public static void writeField(JsonGenerator out, List<TableDescription> tables) throws IOException {
        out.writeArrayFieldStart("tables");
        for (TableDescription each : tables) {
            each.write(out);
        }
        out.writeEndArray();
    }

    /// A column and its SQL type.
    public record ColumnDescription(String name, String type) {}
}
