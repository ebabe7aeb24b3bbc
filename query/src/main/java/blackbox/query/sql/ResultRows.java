package blackbox.query.sql;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Array;
import java.sql.Blob;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Struct;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Turns DuckDB's values into plain ones: octets become hex, times RFC 3339.
final class ResultRows {

    private ResultRows() {}

    static void give(ResultSet result, ResultSink sink, QueryDeadline deadline) throws SQLException, IOException {
        ResultSetMetaData meta = result.getMetaData();
        var names = new ArrayList<String>();
        var times = new boolean[meta.getColumnCount() + 1];
        for (int i = 1; i <= meta.getColumnCount(); i++) {
            names.add(meta.getColumnName(i));
            times[i] = meta.getColumnTypeName(i).startsWith("TIMESTAMP");
        }
        sink.columns(names);
        while (result.next()) {
            deadline.check();
            var values = new ArrayList<@Nullable Object>(names.size());
            for (int i = 1; i <= names.size(); i++) {
                values.add(times[i] ? time(result.getString(i)) : plain(result.getObject(i)));
            }
            sink.row(values);
        }
        sink.end();
    }

    private static @Nullable String time(@Nullable String text) {
        if (text == null) {
            return null;
        }
        String utc = text.replaceFirst("[+-]00(:00)?$", "");
        return utc.replace(' ', 'T') + "Z";
    }

    private static @Nullable Object plain(@Nullable Object value) throws SQLException {
        return switch (value) {
            case null -> null;
            case Boolean b -> b;
            case Long n -> n;
            case Integer n -> n;
            case Short n -> n.intValue();
            case Byte n -> n.intValue();
            case Double n -> n;
            case Float n -> n;
            case BigInteger n -> n;
            case BigDecimal n -> n;
            case Blob blob -> HexFormat.of().formatHex(blob.getBytes(1, (int) blob.length()));
            case Array array -> list((Object[]) array.getArray());
            case Struct struct -> list(struct.getAttributes());
            case Map<?, ?> map -> map(map);
            default -> value.toString();
        };
    }

    private static List<@Nullable Object> list(Object[] elements) throws SQLException {
        var list = new ArrayList<@Nullable Object>(elements.length);
        for (Object element : elements) {
            list.add(plain(element));
        }
        return list;
    }

    private static Map<String, @Nullable Object> map(Map<?, ?> map) throws SQLException {
        var plain = new LinkedHashMap<String, @Nullable Object>();
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            plain.put(String.valueOf(entry.getKey()), plain(entry.getValue()));
        }
        return plain;
    }
}
