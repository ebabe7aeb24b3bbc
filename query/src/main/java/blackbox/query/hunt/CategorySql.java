package blackbox.query.hunt;

import blackbox.query.sql.SqlEngine;
import blackbox.rules.Rule;
import blackbox.rules.RuleSet;
import blackbox.rules.condition.Condition;
import blackbox.rules.condition.Folded;
import blackbox.rules.condition.TextPattern;
import blackbox.rules.condition.TextPattern.Glob;
import blackbox.rules.event.Category;
import blackbox.rules.event.Field;
import blackbox.rules.event.Field.Derived;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The rules of one category as one `SELECT`: of each event of which a rule holds its run, `index`, `at_ns`, the
/// category's number, a list that says of each rule whether it holds, and a list of the values that
/// [rules over rules][RuleSet#asked] ask for.
///
/// Reads the tables `hunted_programs`, `hunted_texts` and `hunted_names`, see [Lineage], and what only Java reads as
/// the watch does: `hunted_details` (run, index, key, value) with the values of [#details], and `hunted_values`
/// (number, value) with the values that fit each of the [Lookups].
final class CategorySql {
    /// What counts as a number, as in [TextPattern.Compares].
    private static final String DECIMAL = "'-?[0-9]{1,18}(\\.[0-9]{1,9})?'";

    private final Category category;
    private final int number;
    private final List<Rule.OfEvents> rules;
    private final Map<Field, Integer> fields = new LinkedHashMap<>();
    private final List<Field> asked = new ArrayList<>();
    private final Lookups lookups;

    /// What only Java decides as the watch does: which values of a field are addresses of a range, or have what an
    /// expression finds.
    static final class Lookups {
        private final List<Lookup> all = new ArrayList<>();

        /// @param source a `SELECT` of all values, as `value`
        record Lookup(String source, TextPattern pattern) {}

        private int number(String source, TextPattern pattern) {
            var asked = new Lookup(source, pattern);
            if (!all.contains(asked)) {
                all.add(asked);
            }
            return all.indexOf(asked);
        }

        List<Lookup> all() {
            return all;
        }
    }

    CategorySql(Category category, int number, RuleSet set, List<Rule.OfEvents> rules, Lookups lookups) {
        this.category = category;
        this.number = number;
        this.rules = rules;
        this.lookups = lookups;
        for (Rule.OfEvents rule : rules) {
            for (Field field : set.asked(rule)) {
                if (!asked.contains(field)) {
                    asked.add(field);
                }
            }
        }
    }

    List<Rule.OfEvents> rules() {
        return rules;
    }

    /// The fields whose values stand in the last column, in its order.
    List<Field> asked() {
        return asked;
    }

    /// @param runs a condition on `e.run`
    String select(String runs) {
        String holds = rules.stream()
                .map(rule -> condition(rule.condition(), runs))
                .collect(Collectors.joining(",\n  ", "[", "]"));
        String values = asked.isEmpty()
                ? "NULL::VARCHAR[]"
                : asked.stream().map(field -> "f" + slot(field)).collect(Collectors.joining(", ", "[", "]"));
        String columns = fields.entrySet().stream()
                .map(field -> ", " + expression(field.getKey()) + " AS f" + field.getValue())
                .collect(Collectors.joining());
        String folded = fields.values().stream()
                .map(slot -> ", translate(f" + slot + ", '" + Folded.UPPER + "', '" + Folded.LOWER + "') AS l" + slot)
                .collect(Collectors.joining());
        return "SELECT run, \"index\", at_ns, " + number
                + " AS category, holds, asked FROM (SELECT run, \"index\", at_ns, "
                + holds + " AS holds, " + values + " AS asked FROM (SELECT *" + folded
                + " FROM (SELECT e.run, e.\"index\", e.at_ns" + columns + from(runs)
                + "))) WHERE list_contains(holds, true)";
    }

    private String from(String runs) {
        return "\nFROM events e\n"
                + "ASOF LEFT JOIN hunted_programs p ON e.run = p.run AND e.pid = p.pid AND e.start_ns = p.start_ns"
                + " AND e.\"index\" >= p.from_index\n"
                + "LEFT JOIN hunted_texts t ON e.run = t.run AND p.program = t.number\n"
                + "LEFT JOIN hunted_texts u ON e.run = u.run AND p.parent = u.number\n"
                + "ASOF LEFT JOIN hunted_names n ON e.run = n.run AND e.remote_ip = n.address"
                + " AND e.\"index\" >= n.from_index\n"
                + fields.entrySet().stream().map(CategorySql::details).collect(Collectors.joining())
                + "WHERE " + runs + " AND " + isOf();
    }

    private static String details(Map.Entry<Field, Integer> field) {
        if (!(field.getKey() instanceof Field.OfDetail(String key))) {
            return "";
        }
        String table = "d" + field.getValue();
        return "LEFT JOIN hunted_details " + table + " ON e.run = " + table + ".run AND e.\"index\" = " + table
                + ".\"index\" AND " + table + ".key = " + SqlEngine.quoted(key) + "\n";
    }

    /// The keys of details that the rules ask for, once [#select] was called.
    Set<String> details() {
        return fields.keySet().stream()
                .flatMap(field -> field instanceof Field.OfDetail(String key) ? Stream.of(key) : Stream.of())
                .collect(Collectors.toSet());
    }

    Category category() {
        return category;
    }

    /// As `Facts` decides which events are of a category.
    private String isOf() {
        String kinds = category.kinds().stream()
                .map(kind -> SqlEngine.quoted(kind.eventName()))
                .sorted()
                .collect(Collectors.joining(", ", "e.kind IN (", ")"));
        if (!(category instanceof Category.Sigma sigma)) {
            return kinds;
        }
        String done = sigma == Category.Sigma.NETWORK_CONNECTION
                ? "(coalesce(e.ret, 0) >= 0 OR e.ret = -115)"
                : "coalesce(e.ret, 0) >= 0";
        String created = sigma == Category.Sigma.FILE_EVENT ? " AND (e.kind <> 'file.open' OR e.created = 1)" : "";
        return kinds + " AND e.actor IS DISTINCT FROM 'supervisor' AND " + done + created;
    }

    private int slot(Field field) {
        return fields.computeIfAbsent(field, _ -> fields.size());
    }

    private String expression(Field field) {
        return switch (field) {
            case Field.OfColumn(Column column) -> column(column);
            case Field.OfDetail _ -> "d" + fields.get(field) + ".value";
            case Derived derived ->
                switch (derived) {
                    case IMAGE -> "t.image";
                    case COMMAND_LINE -> "t.command_line";
                    case PARENT_IMAGE -> "u.image";
                    case PARENT_COMMAND_LINE -> "u.command_line";
                    case USER -> "CASE WHEN e.uid = 0 THEN 'root' ELSE CAST(e.uid AS VARCHAR) END";
                    case TARGET_FILENAME ->
                        "CASE WHEN e.kind IN ('file.rename', 'file.link') THEN e.path_to ELSE e.path END";
                    case DESTINATION_HOSTNAME -> "n.host";
                    case INITIATED ->
                        "CASE WHEN e.kind = " + SqlEngine.quoted(Kind.NET_ACCEPT.eventName())
                                + " THEN 'false' ELSE 'true' END";
                };
        };
    }

    private static String column(Column column) {
        String name = "e.\"" + column.columnName() + "\"";
        return switch (column.type()) {
            case INT, LONG -> column == Column.SOURCE ? name : "CAST(" + name + " AS VARCHAR)";
            case STRING -> name;
            case STRING_LIST -> "array_to_string(" + name + ", ' ')";
            case BYTES -> "NULL::VARCHAR";
        };
    }

    private String condition(Condition condition, String runs) {
        return switch (condition) {
            case Condition.All(List<Condition> parts) -> joined(parts, " AND ", runs);
            case Condition.Any(List<Condition> parts) -> joined(parts, " OR ", runs);
            case Condition.Not(Condition part) -> "NOT " + condition(part, runs);
            case Condition.Same(Field one, Field other) -> "coalesce(l" + slot(one) + " = l" + slot(other) + ", false)";
            case Condition.Fits(Field field, TextPattern pattern) -> fits(field, pattern, runs);
        };
    }

    private String joined(List<Condition> parts, String word, String runs) {
        return parts.stream().map(part -> condition(part, runs)).collect(Collectors.joining(word, "(", ")"));
    }

    private String fits(Field field, TextPattern pattern, String runs) {
        String value = (pattern.cased() ? "f" : "l") + slot(field);
        return switch (pattern) {
            case TextPattern.Missing _ -> "(" + value + " IS NULL OR " + value + " = '')";
            case TextPattern.Exactly exactly -> known(value + " = " + SqlEngine.quoted(exactly.wanted()));
            case TextPattern.Contains text -> known("contains(" + value + ", " + SqlEngine.quoted(text.wanted()) + ")");
            case TextPattern.Starts text ->
                known("starts_with(" + value + ", " + SqlEngine.quoted(text.wanted()) + ")");
            case TextPattern.Ends text -> known("ends_with(" + value + ", " + SqlEngine.quoted(text.wanted()) + ")");
            case Glob glob -> known(value + " LIKE " + SqlEngine.quoted(like(glob)) + " ESCAPE '\\'");
            case TextPattern.Compares number ->
                "CASE WHEN regexp_full_match(coalesce(" + value + ", ''), " + DECIMAL + ") THEN CAST(" + value
                        + " AS DECIMAL(27, 9)) " + number.order().sign() + " "
                        + number.limit().toPlainString() + " ELSE false END";
            case TextPattern.Within _, TextPattern.Matches _ -> {
                String source = "SELECT DISTINCT " + expression(field) + " AS value" + from(runs);
                yield known(value + " IN (SELECT value FROM hunted_values WHERE number = "
                        + lookups.number(source, pattern) + ")");
            }
        };
    }

    private static String known(String condition) {
        return "coalesce(" + condition + ", false)";
    }

    private static String like(Glob glob) {
        var like = new StringBuilder();
        for (Glob.Piece piece : glob.pieces()) {
            switch (piece) {
                case Glob.Wildcard any -> like.append(any == Glob.Wildcard.ANY ? '%' : '_');
                case Glob.Literal(String text) -> like.append(text.replaceAll("[\\\\%_]", "\\\\$0"));
            }
        }
        return like.toString();
    }
}
