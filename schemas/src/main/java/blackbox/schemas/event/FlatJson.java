package blackbox.schemas.event;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A JSON object (RFC 8259) whose values are whole numbers of 64 bits and strings. Written without spaces, its fields
/// in the order in which they were put, and of all characters only those escaped that must be.
final class FlatJson {

    /// Characters that have an escape of two characters, and its second one.
    private static final String ESCAPED = "\"\\\b\f\n\r\t";
    private static final String ESCAPES = "\"\\bfnrt";

    private final Map<String, Object> fields = new LinkedHashMap<>();

    private FlatJson() {}

    static FlatJson empty() {
        return new FlatJson();
    }

    static FlatJson of(String name, long value) {
        return empty().and(name, value);
    }

    static FlatJson of(String name, String value) {
        FlatJson json = empty();
        json.fields.put(name, value);
        return json;
    }

    FlatJson and(String name, long value) {
        fields.put(name, value);
        return this;
    }

    /// Puts a string or a number, if there is one.
    FlatJson and(String name, @Nullable Object value) {
        if (value instanceof String || value instanceof Long) {
            fields.put(name, value);
        }
        return this;
    }

    /// The number of that name, or null if there is none.
    @Nullable
    Long number(String name) {
        return fields.get(name) instanceof Long number ? number : null;
    }

    /// The string of that name, or null if there is none.
    @Nullable
    String text(String name) {
        return fields.get(name) instanceof String text ? text : null;
    }

    @Override
    public String toString() {
        var out = new StringBuilder("{");
        fields.forEach((name, value) -> {
            quote(out.length() == 1 ? out : out.append(','), name);
            out.append(':');
            if (value instanceof String text) {
                quote(out, text);
            } else {
                out.append(value);
            }
        });
        return out.append('}').toString();
    }

    private static void quote(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int named = ESCAPED.indexOf(c);
            if (named >= 0) {
                out.append('\\').append(ESCAPES.charAt(named));
            } else if (c < ' ') {
                out.append("\\u%04X".formatted((int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    /// Reads one object; null if the text is not one, or has values of other types. Of fields with one name the last
    /// one counts.
    static @Nullable FlatJson read(String text) {
        var reader = new Reader(text);
        FlatJson json = reader.object();
        return json != null && reader.atEnd() ? json : null;
    }

    private static final class Reader {

        private final String text;
        private int at;

        Reader(String text) {
            this.text = text;
        }

        @Nullable
        FlatJson object() {
            var json = new FlatJson();
            if (!take('{')) {
                return null;
            }
            if (take('}')) {
                return json;
            }
            do {
                String name = take('"') ? string() : null;
                Object value = name != null && take(':') ? value() : null;
                if (name == null || value == null) {
                    return null;
                }
                json.fields.put(name, value);
            } while (take(','));
            return take('}') ? json : null;
        }

        boolean atEnd() {
            skipSpace();
            return at == text.length();
        }

        private void skipSpace() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
        }

        private boolean take(char wanted) {
            skipSpace();
            boolean there = at < text.length() && text.charAt(at) == wanted;
            at += there ? 1 : 0;
            return there;
        }

        private @Nullable Object value() {
            return take('"') ? string() : number();
        }

        /// From behind its opening quote.
        private @Nullable String string() {
            var out = new StringBuilder();
            while (at < text.length()) {
                char c = text.charAt(at++);
                if (c == '"') {
                    return out.toString();
                }
                int escaped = c == '\\' ? escaped() : c < ' ' ? -1 : c;
                if (escaped < 0) {
                    return null;
                }
                out.append((char) escaped);
            }
            return null;
        }

        /// The character that is escaped, from behind the backslash; below 0 if it is none.
        private int escaped() {
            char c = at < text.length() ? text.charAt(at++) : 0;
            int named = ESCAPES.indexOf(c);
            if (named >= 0 || c == '/') {
                return c == '/' ? c : ESCAPED.charAt(named);
            }
            if (c != 'u' || text.length() - at < 4) {
                return -1;
            }
            int code = 0;
            for (int end = at + 4; at < end; at++) {
                int digit = text.charAt(at) < 128 ? Character.digit(text.charAt(at), 16) : -1;
                if (digit < 0) {
                    return -1;
                }
                code = code << 4 | digit;
            }
            return code;
        }

        private @Nullable Long number() {
            int start = at;
            while (at < text.length() && "-0123456789".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
            String digits = text.substring(start, at);
            try {
                long value = Long.parseLong(digits);
                // Leading zeros and a zero's sign are left to nobody.
                return digits.equals(Long.toString(value)) ? value : null;
            } catch (NumberFormatException e) {
                return null;
            }
        }
    }
}
