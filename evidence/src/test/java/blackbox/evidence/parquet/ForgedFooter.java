package blackbox.evidence.parquet;

import blackbox.evidence.parquet.ThriftTree.Value;
import blackbox.schemas.table.EventsTable;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/// Parquet files with another footer.
public final class ForgedFooter {

    private ForgedFooter() {}

    /// Something that a footer could say.
    public enum Lie implements UnaryOperator<Value> {
        /// DECIMAL(18,9), in the old way and in the new.
        DECIMAL(footer -> {
            Value type = Value.struct().with(1, Value.i32(9)).with(2, Value.i32(18));
            element(footer, "bytes_read")
                    .with(6, Value.i32(5))
                    .with(7, Value.i32(9))
                    .with(8, Value.i32(18))
                    .with(10, Value.struct().with(5, type));
        }),
        CONVERTED_DECIMAL(footer -> element(footer, "bytes_read")
                .with(6, Value.i32(5))
                .with(7, Value.i32(9))
                .with(8, Value.i32(18))),
        UNSIGNED(footer -> element(footer, "bytes_read").with(6, Value.i32(14))),
        TIMESTAMP(footer -> element(footer, "at_ns").with(6, Value.i32(9))),
        DATE(footer -> element(footer, "exit_code").with(6, Value.i32(6))),
        JSON(footer -> element(footer, "path").with(6, Value.i32(19))),
        NO_STRING(footer -> {
            element(footer, "path").fields().remove(6);
            element(footer, "path").fields().remove(10);
        }),
        OTHER_FIELD_ID(footer -> element(footer, "path").with(9, Value.i32(99))),
        /// What is read becomes what is written.
        OTHER_PATH(footer -> {
            for (Value group : footer.get(4).elements()) {
                Value read = chunk(footer, group, "bytes_read");
                Value written = chunk(footer, group, "bytes_written");
                Value path = read.get(3);
                read.with(3, written.get(3));
                written.with(3, path);
            }
        }),
        /// Where pyarrow looks for types.
        ARROW_SCHEMA(footer -> note(footer, "ARROW:schema", "/////")),
        SPARK_SCHEMA(footer -> note(footer, "org.apache.spark.sql.parquet.row.metadata", "{}")),
        UNKNOWN_FIELD(footer -> footer.with(12, Value.i32(1))),
        NO_ORDER(footer -> footer.with(7, Value.structs(List.of()))),
        /// Engines skip pages by these.
        COLUMN_INDEX(footer -> place(footer, "path").with(6, Value.i64(4)).with(7, Value.i32(8))),
        OFFSET_INDEX(footer -> place(footer, "path").with(4, Value.i64(4)).with(5, Value.i32(8))),
        BLOOM(footer -> chunk(footer, footer.get(4).elements().getFirst(), "path")
                .with(14, Value.i64(4))
                .with(15, Value.i32(8))),
        OTHER_LAYOUT(footer -> footer.get(5).elements().stream()
                .filter(note -> text(note.get(1)).equals(EventsTable.LAYOUT_KEY))
                .findFirst()
                .orElseThrow()
                .with(2, Value.text("3"))),
        PAGE_COUNTS(footer -> chunk(footer, footer.get(4).elements().getFirst(), "kind")
                .with(
                        13,
                        Value.structs(List.of(Value.struct()
                                .with(1, Value.i32(0))
                                .with(2, Value.i32(8))
                                .with(3, Value.i32(7)))))),
        PAGE_ENCODINGS(footer ->
                chunk(footer, footer.get(4).elements().getFirst(), "kind").with(2, Value.numbers(List.of(7L))));

        @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
        private final Consumer<Value> change;

        Lie(Consumer<Value> change) {
            this.change = change;
        }

        @Override
        public Value apply(Value footer) {
            change.accept(footer);
            return footer;
        }
    }

    private static Value element(Value footer, String name) {
        return footer.get(2).elements().stream()
                .filter(element -> text(element.get(4)).equals(name))
                .findFirst()
                .orElseThrow();
    }

    /// The first chunk of that column, with what is said beside its metadata.
    private static Value place(Value footer, String column) {
        return footer.get(4)
                .elements()
                .getFirst()
                .get(1)
                .elements()
                .get(columns(footer).indexOf(column));
    }

    private static Value chunk(Value footer, Value group, String column) {
        int place = columns(footer).indexOf(column);
        return group.get(1).elements().get(place).get(3);
    }

    private static void note(Value footer, String key, String value) {
        var notes = footer.fields().containsKey(5) ? footer.get(5).elements() : List.<Value>of();
        var more = new ArrayList<>(notes);
        more.add(Value.struct().with(1, Value.text(key)).with(2, Value.text(value)));
        footer.with(5, Value.structs(more));
    }

    private static String text(Value value) {
        return new String((byte[]) value.value(), StandardCharsets.UTF_8);
    }

    /// Gives a file with the table's columns that another engine wrote the schema that ingest would write.
    public static void asIngestHasIt(Path file) throws IOException {
        change(file, footer -> footer.with(2, ThriftTree.parseList(FooterSchema.ofOptional(columns(footer)))));
    }

    /// The names of the columns, in order.
    private static List<String> columns(Value footer) {
        List<Value> elements = footer.get(2).elements();
        var names = new ArrayList<String>();
        for (int i = 1; i < elements.size(); i += size(elements.get(i))) {
            names.add(text(elements.get(i).get(4)));
        }
        return names;
    }

    /// A list is three elements of the schema.
    private static int size(Value element) {
        return element.fields().containsKey(5) ? 3 : 1;
    }

    /// Gives a column's first chunk other octets, which say that they hold so many values.
    static void replaceChunk(Path file, String column, byte[] chunk, long values) throws IOException {
        byte[] octets = Files.readAllBytes(file);
        int length = ByteBuffer.wrap(octets).order(ByteOrder.LITTLE_ENDIAN).getInt(octets.length - 8);
        int from = octets.length - 8 - length;
        var out = new ByteArrayOutputStream();
        out.write(octets, 0, from);
        out.writeBytes(chunk);
        out.write(octets, from, octets.length - from);
        Files.write(file, out.toByteArray());
        change(file, footer -> {
            Value changed = place(footer, column).get(3);
            changed.with(5, Value.i64(values)).with(7, Value.i64(chunk.length)).with(9, Value.i64(from));
            changed.fields().remove(11);
            return footer;
        });
    }

    /// Rewrites the footer; what comes before it stays.
    public static void change(Path file, UnaryOperator<Value> change) throws IOException {
        byte[] octets = Files.readAllBytes(file);
        int length = ByteBuffer.wrap(octets).order(ByteOrder.LITTLE_ENDIAN).getInt(octets.length - 8);
        int from = octets.length - 8 - length;
        byte[] footer =
                ThriftTree.octets(change.apply(ThriftTree.parse(Arrays.copyOfRange(octets, from, from + length))));
        var out = new ByteArrayOutputStream();
        out.write(octets, 0, from);
        out.writeBytes(footer);
        out.writeBytes(ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(footer.length)
                .array());
        out.writeBytes("PAR1".getBytes(StandardCharsets.US_ASCII));
        Files.write(file, out.toByteArray());
    }
}
