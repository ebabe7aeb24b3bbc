package blackbox.query.sql;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A result as one JSON array with an object for each row.
public final class JsonResult implements ResultSink {

    private final JsonGenerator out;
    private final RowFields more;
    private List<String> names = List.of();

    /// Writes further fields of a row's object.
    @FunctionalInterface
    public interface RowFields {
        void write(JsonGenerator out, List<String> names, List<@Nullable Object> values) throws IOException;
    }

    public JsonResult(JsonGenerator out) {
        this(out, (_, _, _) -> {});
    }

    /// @param more what each row's object has besides its columns
    public JsonResult(JsonGenerator out, RowFields more) {
        this.out = out;
        this.more = more;
    }

    @Override
    public void columns(List<String> columns) throws IOException {
        names = columns;
        out.writeStartArray();
    }

    @Override
    public void row(List<@Nullable Object> values) throws IOException {
        out.writeStartObject();
        fields(out, names, values);
        more.write(out, names, values);
        out.writeEndObject();
    }

    /// Writes a row's columns as fields.
    public static void fields(JsonGenerator out, List<String> names, List<@Nullable Object> values) throws IOException {
        for (int i = 0; i < names.size(); i++) {
            out.writeFieldName(names.get(i));
            value(out, values.get(i));
        }
    }

    /// Writes a value.
    public static void value(JsonGenerator out, @Nullable Object value) throws IOException {
        switch (value) {
            case null -> out.writeNull();
            case Boolean b -> out.writeBoolean(b);
            case Integer n -> out.writeNumber(n);
            case Long n -> out.writeNumber(n);
            case Double n -> out.writeNumber(n);
            case Float n -> out.writeNumber(n);
            case BigInteger n -> out.writeNumber(n);
            case BigDecimal n -> out.writeNumber(n);
            case List<?> list -> {
                out.writeStartArray();
                for (Object element : list) {
                    value(out, element);
                }
                out.writeEndArray();
            }
            case Map<?, ?> map -> {
                out.writeStartObject();
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    out.writeFieldName(String.valueOf(entry.getKey()));
                    value(out, entry.getValue());
                }
                out.writeEndObject();
            }
            default -> out.writeString(value.toString());
        }
    }

    @Override
    public void end() throws IOException {
        out.writeEndArray();
    }
}
