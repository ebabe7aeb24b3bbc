package blackbox.replay.divergence.strand;

import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// What is compared of an event and its line does not show, or not whole: the folder, the mode, single arguments. Two
/// lines of events that differ in nothing else would look the same.
public record UnseenValues(Map<String, String> values) {
    private static final int VALUES_MAX = 4_096;
    private static final int SHOWN_MAX = 3;
    private static final int CHARS_MAX = 80;

    private static final Set<Column> COLUMNS = EnumSet.of(
            Column.ARGV,
            Column.CWD,
            Column.ENV,
            Column.MODE,
            Column.FLAGS,
            Column.CREATED,
            Column.READS,
            Column.WRITES,
            Column.ANSWERS,
            Column.GID_TO,
            Column.CAPS_TO);
    private static final Set<Column> OCTAL = EnumSet.of(Column.MODE, Column.FLAGS);

    static UnseenValues of(Row row) {
        var values = new LinkedHashMap<String, String>();
        for (Column column : COLUMNS) {
            if (row.has(column)) {
                add(values, row, column);
            }
        }
        return new UnseenValues(values);
    }

    private static void add(Map<String, String> values, Row row, Column column) {
        String name = column.columnName();
        switch (column.type()) {
            case INT, LONG -> {
                long number = row.number(column);
                values.put(name, OCTAL.contains(column) ? "0" + Long.toOctalString(number) : Long.toString(number));
            }
            case STRING, BYTES -> values.put(name, row.text(column).toString());
            case STRING_LIST -> {
                List<Text> all = row.list(column);
                for (int i = 0; i < all.size() && values.size() < VALUES_MAX; i++) {
                    values.put(name + "[" + i + "]", all.get(i).toString());
                }
            }
        }
    }

    /// The first of these that another event does not have, each as ` name=value`; empty if there is none.
    ///
    /// @param line what is shown anyway
    String besides(UnseenValues other, String line) {
        var shown = new ArrayList<String>();
        for (Map.Entry<String, String> each : values.entrySet()) {
            String theirs = other.values.get(each.getKey());
            boolean isSeen = each.getKey().startsWith(Column.ARGV.columnName()) && line.contains(each.getValue());
            if (!each.getValue().equals(theirs) && !isSeen && shown.size() < SHOWN_MAX) {
                shown.add(" " + each.getKey() + "=" + brief(each.getValue()));
            }
        }
        return String.join("", shown);
    }

    private static String brief(String value) {
        return value.length() <= CHARS_MAX ? value : value.substring(0, CHARS_MAX - 1) + "…";
    }
}
