package blackbox.policy.text;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A mapping whose keys are known, read by type. What does not fit becomes a problem at its place, and the
/// reading goes on, so that one look at a file shows all that is wrong with it.
final class Fields {

    private static final int TEXT_MAX = 8_192;

    /// Entries are compared with one another.
    private static final int ITEMS_MAX = 4_096;

    private static final int SHOWN_MAX = 80;

    private final Node.Mapping mapping;
    private final String owner;
    private final List<Problem> problems;
    private final Map<String, Node> values = new HashMap<>();

    private Fields(Node.Mapping mapping, String owner, List<Problem> problems) {
        this.mapping = mapping;
        this.owner = owner;
        this.problems = problems;
    }

    /// The fields of a mapping; null, and a problem, if `node` is none.
    ///
    /// @param owner whose fields they are, for people: `a rule`
    /// @param known the keys that there are
    static @Nullable Fields of(Node node, String owner, List<Problem> problems, String... known) {
        return of(node, owner, problems, Map.of(), List.of(known));
    }

    /// The same, with keys that somebody may look for there.
    ///
    /// @param misplaced why these keys are none
    static @Nullable Fields of(
            Node node, String owner, List<Problem> problems, Map<String, String> misplaced, List<String> known) {
        if (!(node instanceof Node.Mapping mapping)) {
            problems.add(new Problem(node.place(), owner + " is a mapping of keys to values, not " + node.kind()));
            return null;
        }
        var fields = new Fields(mapping, owner, problems);
        for (Node.Entry entry : mapping.entries()) {
            String why = misplaced.get(entry.key());
            if (known.contains(entry.key())) {
                fields.values.put(entry.key(), entry.value());
            } else if (why != null) {
                fields.problem(entry.place(), why);
            } else {
                fields.problem(
                        entry.place(),
                        owner + " has no key '" + shown(entry.key()) + "'; its keys are " + String.join(", ", known));
            }
        }
        return fields;
    }

    /// The fields of a mapping inside of this one.
    @Nullable
    Fields inner(Node node, String owner, String... known) {
        return of(node, owner, problems, known);
    }

    void problem(Place place, String what) {
        problems.add(new Problem(place, what));
    }

    /// Where the mapping begins.
    Place place() {
        return mapping.place();
    }

    /// Where a key's value is.
    Place place(String key) {
        Node value = values.get(key);
        return value == null ? place() : value.place();
    }

    boolean has(String key) {
        return values.containsKey(key);
    }

    @Nullable
    Node node(String key) {
        return values.get(key);
    }

    /// Says that a key is missing if it is.
    void require(String key, String why) {
        if (!has(key)) {
            problem(place(), owner + " needs the key '" + key + "'" + why);
        }
    }

    /// The items of a list that is not empty; none if the key is missing.
    List<Node> items(String key) {
        Node node = values.get(key);
        if (node == null) {
            return List.of();
        }
        if (!(node instanceof Node.Sequence list)) {
            problem(node.place(), key + " is a list, not " + node.kind() + "; put it into [ ]");
            return List.of();
        }
        if (list.items().isEmpty()) {
            problem(node.place(), key + " is an empty list; leave it out, or say what is meant");
        }
        if (list.items().size() > ITEMS_MAX) {
            problem(node.place(), key + " has more than " + ITEMS_MAX + " items; say it with fewer, wider ones");
            return List.of();
        }
        return list.items();
    }

    /// The values of a list of texts.
    ///
    /// @param reader throws [IllegalArgumentException] with a clause about the text
    <T> List<T> values(String key, Function<String, T> reader) {
        var values = new ArrayList<T>();
        for (Node item : items(key)) {
            T value = value(item, key, reader);
            if (value != null) {
                values.add(value);
            }
        }
        return values;
    }

    /// The value of a text; null if the key is missing or it does not fit.
    <T> @Nullable T value(String key, Function<String, T> reader) {
        Node node = values.get(key);
        return node == null ? null : value(node, key, reader);
    }

    private <T> @Nullable T value(Node node, String key, Function<String, T> reader) {
        if (!(node instanceof Node.Scalar scalar) || !scalar.isText()) {
            problem(node.place(), key + " is a text, not " + node.kind() + "; put it into quotes if it is meant");
            return null;
        }
        return read(scalar, key, reader);
    }

    /// The value of a text or a number, as it is written.
    <T> @Nullable T scalar(Node node, String key, Function<String, T> reader) {
        if (node instanceof Node.Scalar scalar && (scalar.isText() || scalar.isNumber())) {
            return read(scalar, key, reader);
        }
        problem(node.place(), key + " is a number or a text, not " + node.kind());
        return null;
    }

    private <T> @Nullable T read(Node.Scalar scalar, String key, Function<String, T> reader) {
        String text = scalar.text();
        if (text.isEmpty() || text.length() > TEXT_MAX || text.codePoints().anyMatch(Fields::isHidden)) {
            problem(
                    scalar.place(),
                    key + " is a text of 1 to " + TEXT_MAX
                            + " characters, without control characters and others that do" + " not show");
            return null;
        }
        try {
            return reader.apply(text);
        } catch (IllegalArgumentException e) {
            problem(scalar.place(), key + " '" + shown(text) + "': " + e.getMessage());
            return null;
        }
    }

    /// Controls, halves of surrogate pairs, noncharacters, separators of lines, and what changes the look or
    /// the direction of text around it.
    static boolean isHidden(int c) {
        return Character.isISOControl(c)
                || c >= 0xd800 && c <= 0xdfff
                || (c & 0xfffe) == 0xfffe
                || c >= 0xfdd0 && c <= 0xfdef
                || c >= 0x200b && c <= 0x200f
                || c >= 0x2028 && c <= 0x202e
                || c >= 0x2060 && c <= 0x206f
                || c == 0xfeff;
    }

    private static String shown(String text) {
        return text.length() <= SHOWN_MAX ? text : text.substring(0, SHOWN_MAX) + "…";
    }

    /// Whether a key is `true`; false if it is missing.
    boolean isTrue(String key) {
        Node node = values.get(key);
        if (node instanceof Node.Scalar scalar
                && scalar.isPlain()
                && scalar.text().matches("true|false")) {
            return scalar.text().equals("true");
        }
        if (node != null) {
            problem(node.place(), key + " is true or false, not " + node.kind());
        }
        return false;
    }
}
