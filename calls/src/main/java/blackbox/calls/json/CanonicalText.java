package blackbox.calls.json;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The text of a value with keys sorted by their UTF-16 code units and no white space. Numbers are as they were
/// written, since which of them are the same is the reader's to say.
public final class CanonicalText {
    private CanonicalText() {}

    /// The text of a value.
    public static String of(Json value) {
        var text = new StringBuilder();
        write(value, text);
        return text.toString();
    }

    /// The canonical text of a text, if it is one JSON value and no longer than this; else null.
    public static @Nullable String of(String text, int charsMax) {
        if (text.length() > charsMax || !StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            return null;
        }
        List<Json> values = new ArrayList<>();
        var sink = new JsonReader.Sink() {
            @Override
            public void element(String list, Json element, long index, long endOffset) {}

            @Override
            public void value(Json value, long endOffset) {
                values.add(value);
            }

            @Override
            public void remark(String what) {
                values.add(Json.Null.NULL); // ambiguous, so that the text stays what it was
            }
        };
        try (var reader = new JsonReader(Shape.whole(Keeper.CHARS_MAX), sink)) {
            byte[] octets = text.getBytes(StandardCharsets.UTF_8);
            reader.feed(octets, 0, octets.length);
            return reader.end()
                            && values.size() == 1
                            && values.getFirst() instanceof Json.Whole(Json value, boolean cut)
                            && !cut
                    ? of(value)
                    : null;
        }
    }

    private static void write(Json value, StringBuilder text) {
        switch (value) {
            case Json.Obj(Map<String, Json> members) -> {
                char before = '{';
                for (Map.Entry<String, Json> member : new TreeMap<>(members).entrySet()) {
                    text.append(before);
                    string(member.getKey(), text);
                    text.append(':');
                    write(member.getValue(), text);
                    before = ',';
                }
                text.append(before == '{' ? "{}" : "}");
            }
            case Json.Arr(List<Json> elements) -> {
                char before = '[';
                for (Json element : elements) {
                    text.append(before);
                    write(element, text);
                    before = ',';
                }
                text.append(before == '[' ? "[]" : "]");
            }
            case Json.Text(String string, boolean _) -> string(string, text);
            case Json.Num(String digits) -> text.append(digits);
            case Json.Bool(boolean yes) -> text.append(yes);
            case Json.Null _ -> text.append("null");
            case Json.Whole(Json whole, boolean _) -> write(whole, text);
        }
    }

    private static void string(String string, StringBuilder text) {
        text.append('"');
        for (int at = 0; at < string.length(); at++) {
            char c = string.charAt(at);
            boolean paired = Character.isHighSurrogate(c)
                    && at + 1 < string.length()
                    && Character.isLowSurrogate(string.charAt(at + 1));
            if (paired) {
                text.append(c).append(string.charAt(++at));
            } else if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < 0x20 || Character.isSurrogate(c)) {
                text.append(escape(c));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }

    private static String escape(char c) {
        return switch (c) {
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\t' -> "\\t";
            case '\b' -> "\\b";
            case '\f' -> "\\f";
            default -> String.format("\\u%04x", (int) c);
        };
    }
}
