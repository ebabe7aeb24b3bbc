package blackbox.ingest.parquet;

import blackbox.schemas.table.EventsTable;
import blackbox.schemas.table.TableColumn;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;
import org.jspecify.annotations.Nullable;

/// The table's columns as a Parquet schema, with Iceberg's field ids.
final class EventSchema {

    static final MessageType MESSAGE = message();

    private EventSchema() {}

    private static MessageType message() {
        var builder = Types.buildMessage();
        for (TableColumn column : EventsTable.COLUMNS) {
            builder.addField(field(column));
        }
        return builder.named("event");
    }

    private static Type field(TableColumn column) {
        return switch (column.type()) {
            case INT -> primitive(column, PrimitiveTypeName.INT32, null);
            case LONG -> primitive(column, PrimitiveTypeName.INT64, null);
            case STRING -> primitive(column, PrimitiveTypeName.BINARY, LogicalTypeAnnotation.stringType());
            case BINARY -> primitive(column, PrimitiveTypeName.BINARY, null);
            case STRING_LIST -> list(column);
        };
    }

    private static Type primitive(TableColumn column, PrimitiveTypeName type, @Nullable LogicalTypeAnnotation logical) {
        var repetition = column.required() ? Type.Repetition.REQUIRED : Type.Repetition.OPTIONAL;
        return Types.primitive(type, repetition)
                .as(logical)
                .id(column.fieldId())
                .named(column.name());
    }

    private static Type list(TableColumn column) {
        Type element = Types.required(PrimitiveTypeName.BINARY)
                .as(LogicalTypeAnnotation.stringType())
                .id(column.elementFieldId())
                .named("element");
        return Types.optionalList().element(element).id(column.fieldId()).named(column.name());
    }

    /// The leaf of the Parquet schema that holds the column's values.
    static ColumnDescriptor descriptor(TableColumn column) {
        return switch (column.type()) {
            case INT, LONG, STRING, BINARY -> MESSAGE.getColumnDescription(new String[] {column.name()});
            case STRING_LIST -> MESSAGE.getColumnDescription(new String[] {column.name(), "list", "element"});
        };
    }
}
