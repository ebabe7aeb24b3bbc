package blackbox.evidence.parquet;

import blackbox.schemas.table.EventsTable;
import blackbox.schemas.table.TableColumn;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/// The schema in the footer of a data file, octet for octet as ingest writes it: a list of `SchemaElement`
/// (parquet.thrift) in the Thrift compact protocol.
///
/// A reader that asks only for names and physical types would believe a file in which another engine sees
/// decimals, dates or unsigned numbers. Comparing the octets admits the table's schema and nothing else.
final class FooterSchema {

    private static final String ROOT = "event";
    private static final int REQUIRED = 0;
    private static final int OPTIONAL = 1;
    private static final int REPEATED = 2;
    private static final int UTF8 = 0;
    private static final int LIST = 3;
    private static final int LOGICAL_STRING = 1;
    private static final int LOGICAL_LIST = 3;

    private static final int TYPE_I32 = 5;
    private static final int TYPE_BINARY = 8;
    private static final int TYPE_STRUCT = 12;

    private static final Map<String, TableColumn> BY_NAME =
            EventsTable.COLUMNS.stream().collect(Collectors.toUnmodifiableMap(TableColumn::name, Function.identity()));

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final int ofRequired;
    private int lastField;

    private FooterSchema(int ofRequired) {
        this.ofRequired = ofRequired;
    }

    /// The schema of a file with the table's columns of these names, in their order in the file.
    static byte[] of(List<String> columns) {
        return of(columns, REQUIRED);
    }

    /// The same, but without calling columns and elements required that always have a value: some engines cannot
    /// express it, and readers find the same values.
    static byte[] ofOptional(List<String> columns) {
        return of(columns, OPTIONAL);
    }

    private static byte[] of(List<String> columns, int ofRequired) {
        var schema = new FooterSchema(ofRequired);
        var elements = new ArrayList<TableColumn>();
        for (String column : columns) {
            TableColumn known = BY_NAME.get(column);
            if (known == null) {
                throw new IllegalArgumentException("column " + column + " is not one of the events table's");
            }
            elements.add(known);
        }
        int size = 1 + elements.stream().mapToInt(FooterSchema::elements).sum();
        schema.listHeader(size);
        schema.group(ROOT, elements.size());
        elements.forEach(schema::column);
        return schema.out.toByteArray();
    }

    /// Whether the table has a column of that name.
    static boolean knows(String column) {
        return BY_NAME.containsKey(column);
    }

    private static int elements(TableColumn column) {
        return switch (column.type()) {
            case INT, LONG, STRING, BINARY -> 1;
            case STRING_LIST -> 3;
        };
    }

    private void column(TableColumn column) {
        int repetition = column.required() ? ofRequired : OPTIONAL;
        switch (column.type()) {
            case INT -> plain(PhysicalType.INT32, repetition, column);
            case LONG -> plain(PhysicalType.INT64, repetition, column);
            case BINARY -> plain(PhysicalType.BYTE_ARRAY, repetition, column);
            case STRING -> string(repetition, column.name(), column.fieldId());
            case STRING_LIST -> {
                list(column);
                string(ofRequired, "element", column.elementFieldId());
            }
        }
    }

    private void plain(PhysicalType type, int repetition, TableColumn column) {
        begin();
        number(1, type.code());
        number(3, repetition);
        text(4, column.name());
        number(9, column.fieldId());
        end();
    }

    private void string(int repetition, String name, int fieldId) {
        begin();
        number(1, PhysicalType.BYTE_ARRAY.code());
        number(3, repetition);
        text(4, name);
        number(6, UTF8);
        number(9, fieldId);
        logicalType(LOGICAL_STRING);
        end();
    }

    private void list(TableColumn column) {
        begin();
        number(3, OPTIONAL);
        text(4, column.name());
        number(5, 1);
        number(6, LIST);
        number(9, column.fieldId());
        logicalType(LOGICAL_LIST);
        end();
        begin();
        number(3, REPEATED);
        text(4, "list");
        number(5, 1);
        end();
    }

    private void group(String name, int children) {
        begin();
        text(4, name);
        number(5, children);
        end();
    }

    private void begin() {
        lastField = 0;
    }

    private void end() {
        out.write(CompactThrift.STOP);
    }

    private void listHeader(int size) {
        if (size < 15) {
            out.write(size << 4 | TYPE_STRUCT);
        } else {
            out.write(15 << 4 | TYPE_STRUCT);
            varint(size);
        }
    }

    private void field(int id, int type) {
        out.write(id - lastField << 4 | type);
        lastField = id;
    }

    private void number(int id, int value) {
        field(id, TYPE_I32);
        varint(value << 1 ^ value >> 31);
    }

    private void text(int id, String value) {
        field(id, TYPE_BINARY);
        byte[] octets = value.getBytes(StandardCharsets.UTF_8);
        varint(octets.length);
        out.writeBytes(octets);
    }

    /// A union with one member, an empty struct.
    private void logicalType(int member) {
        field(10, TYPE_STRUCT);
        out.write(member << 4 | TYPE_STRUCT);
        out.write(CompactThrift.STOP);
        out.write(CompactThrift.STOP);
    }

    private void varint(int value) {
        int left = value;
        while (left >>> 7 != 0) {
            out.write(left & 0x7f | 0x80);
            left >>>= 7;
        }
        out.write(left);
    }
}
