package blackbox.schemas.table;

import blackbox.schemas.row.Column;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The codes for which the writer of a data file had names, of a column that is stored by name (`kind`,
/// `source`).
///
/// A file's footer lists the names that were added after the first version of the table. So a reader older
/// than the file still knows which code a name stands for, and can compute the leaf; and a newer one knows
/// for which codes the writer had no name, so that those rows rightly show none. See `schemas/table.md`.
public final class StoredNames {

    /// The kinds of the first version of the table; never changed.
    private static final int[] FIRST_KINDS = {
        1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 30, 31, 32, 33, 34, 35, 36, 40, 41, 50,
        51, 52, 53, 54, 60, 61, 70, 71
    };

    /// The sources of the first version of the table; never changed.
    private static final int[] FIRST_SOURCES = {1, 2};

    private static final int CODE_MAX = 127;
    private static final Pattern ENTRY = Pattern.compile("([1-9][0-9]{0,2})=([a-z][a-z0-9._-]{0,63})");

    private final Map<Long, String> added;
    private final Map<String, Long> codes;

    private StoredNames(Column column, Map<Long, String> added) {
        this.added = new TreeMap<>(added);
        var all = new HashMap<String, Long>();
        for (int code : first(column)) {
            all.put(String.valueOf(EventsTable.nameOf(column, code)), (long) code);
        }
        added.forEach((code, name) -> all.put(name, code));
        this.codes = Map.copyOf(all);
    }

    /// The names that this version has.
    public static StoredNames ofThisVersion(Column column) {
        var first = new StoredNames(column, Map.of());
        var added = new TreeMap<Long, String>();
        for (long code = 1; code <= CODE_MAX; code++) {
            String name = EventsTable.nameOf(column, code);
            if (name != null && !first.names(code)) {
                added.put(code, name);
            }
        }
        return new StoredNames(column, added);
    }

    /// Reads a file's note on its names; the text is empty if there is no note. Null if the note is malformed
    /// or gives a name or a code a meaning other than its own.
    public static @Nullable StoredNames parse(Column column, String text) {
        var added = new TreeMap<Long, String>();
        var known = ofThisVersion(column);
        var first = new StoredNames(column, Map.of());
        for (String entry : text.isEmpty() ? new String[0] : text.split(" ", -1)) {
            Matcher matcher = ENTRY.matcher(entry);
            if (!matcher.matches()) {
                return null;
            }
            long code = Long.parseLong(matcher.group(1));
            String name = matcher.group(2);
            boolean ascends = added.isEmpty() || code > added.lastKey();
            boolean agrees = name.equals(EventsTable.nameOf(column, code))
                    || !known.names(code) && !known.codes.containsKey(name);
            if (code > CODE_MAX || !ascends || !agrees || first.names(code) || added.containsValue(name)) {
                return null;
            }
            added.put(code, name);
        }
        return new StoredNames(column, added);
    }

    private static int[] first(Column column) {
        return switch (column) {
            case KIND -> FIRST_KINDS;
            case SOURCE -> FIRST_SOURCES;
            default -> throw new IllegalArgumentException(column + " is not stored by name");
        };
    }

    /// The key in a file's footer under which [#text] is stored.
    public static String key(Column column) {
        return "blackbox." + column.columnName() + "s";
    }

    /// The note for a file's footer: the names beyond those of the first version, as `<code>=<name>`,
    /// ascending, separated by spaces; empty if there are none, and then the footer has no such note.
    public String text() {
        return added.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(" "));
    }

    /// Whether the writer had a name for that code.
    public boolean names(long code) {
        return codes.containsValue(code);
    }

    /// The codes by name.
    public Map<String, Long> codes() {
        return codes;
    }
}
