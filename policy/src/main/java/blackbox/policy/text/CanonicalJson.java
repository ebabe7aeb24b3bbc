package blackbox.policy.text;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// JSON as RFC 8785 writes it, of what a policy is made of: objects, lists, texts, booleans and whole numbers
/// up to 2^53-1. One value has one text.
final class CanonicalJson {

    private static final long NUMBER_MAX = (1L << 53) - 1;

    private CanonicalJson() {}

    /// @param value a [Map] with text keys, a [List], a [String], a [Boolean], an [Integer] or a [Long]
    /// @throws IllegalArgumentException when it is none, a number is out of range, or a text has half a
    ///     surrogate pair
    static String write(Object value) {
        var out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        switch (value) {
            case Map<?, ?> object -> object(object, out);
            case List<?> list -> {
                out.append('[');
                for (int i = 0; i < list.size(); i++) {
                    out.append(i == 0 ? "" : ",");
                    write(list.get(i), out);
                }
                out.append(']');
            }
            case String text -> text(text, out);
            case Boolean bool -> out.append(bool);
            case Integer number -> out.append(number);
            case Long number -> {
                if (Math.abs(number) > NUMBER_MAX) {
                    throw new IllegalArgumentException("a number that not every reader reads exactly: " + number);
                }
                out.append(number);
            }
            default -> throw new IllegalArgumentException("not of JSON: " + value.getClass());
        }
    }

    /// Members in the order of their names' UTF-16 units, which is that of [String#compareTo].
    private static void object(Map<?, ?> object, StringBuilder out) {
        var sorted = new TreeMap<String, Object>();
        object.forEach((name, value) -> sorted.put((String) name, value));
        String separator = "{";
        for (Map.Entry<String, Object> member : sorted.entrySet()) {
            out.append(separator);
            text(member.getKey(), out);
            out.append(':');
            write(member.getValue(), out);
            separator = ",";
        }
        out.append(sorted.isEmpty() ? "{}" : "}");
    }

    private static void text(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < ' ') {
                        out.append("\\u%04x".formatted((int) c));
                    } else if (Character.isSurrogate(c)) {
                        if (!Character.isHighSurrogate(c)
                                || i + 1 == text.length()
                                || !Character.isLowSurrogate(text.charAt(i + 1))) {
                            throw new IllegalArgumentException("half of a surrogate pair");
                        }
                        out.append(c).append(text.charAt(++i));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}
