package blackbox.query.otlp;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Named values of a span, a link or a resource, in the order in which they were put. A null is not known, and left
/// out. Owned by one thread.
final class Attributes {

    /// A value of a type that OpenTelemetry knows.
    sealed interface Value {
        /// Text, without surrogates that stand alone, which UTF-8 cannot have.
        record Text(String text) implements Value {
            public Text {
                text = wellFormed(text);
            }
        }

        record Int(long number) implements Value {}

        record Bool(boolean is) implements Value {}

        record Texts(List<String> texts) implements Value {
            public Texts {
                texts = texts.stream().map(Attributes::wellFormed).toList();
            }
        }

        record Ints(List<Long> numbers) implements Value {
            public Ints {
                numbers = List.copyOf(numbers);
            }
        }
    }

    /// What a value has around it as JSON.
    static final int AROUND_CHARS = 20;

    private final Map<String, Value> values = new LinkedHashMap<>();

    Attributes put(String name, @Nullable String text) {
        return put(name, text == null ? null : new Value.Text(text));
    }

    Attributes put(String name, @Nullable Long number) {
        return put(name, number == null ? null : new Value.Int(number));
    }

    Attributes put(String name, @Nullable Boolean is) {
        return put(name, is == null ? null : new Value.Bool(is));
    }

    /// Nothing if the list is empty.
    Attributes putTexts(String name, List<String> texts) {
        return put(name, texts.isEmpty() ? null : new Value.Texts(texts));
    }

    /// Nothing if the list is empty.
    Attributes putNumbers(String name, List<Long> numbers) {
        return put(name, numbers.isEmpty() ? null : new Value.Ints(numbers));
    }

    private Attributes put(String name, @Nullable Value value) {
        if (value != null) {
            values.put(name, value);
        }
        return this;
    }

    Map<String, Value> values() {
        return values;
    }

    /// About how many characters they are, with what is written around each.
    long chars() {
        long chars = 0;
        for (var each : values.entrySet()) {
            chars += 2 * AROUND_CHARS
                    + each.getKey().length()
                    + switch (each.getValue()) {
                        case Value.Text(String text) -> text.length();
                        case Value.Int _, Value.Bool _ -> 20;
                        case Value.Texts(List<String> texts) ->
                            texts.stream()
                                    .mapToLong(text -> AROUND_CHARS + text.length())
                                    .sum();
                        case Value.Ints(List<Long> numbers) -> (AROUND_CHARS + 20L) * numbers.size();
                    };
        }
        return chars;
    }

    /// With U+FFFD in place of surrogates that stand alone.
    static String wellFormed(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                return text.codePoints()
                        .map(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE ? 0xfffd : c)
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                        .toString();
            }
        }
        return text;
    }
}
