package blackbox.node.mcp;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/// An argument of a tool, as JSON Schema describes it.
record Input(String name, Map<String, Object> schema, boolean isRequired) {
    private static final String TYPE = "type";
    private static final String DESCRIPTION = "description";
    private static final String STRING = "string";

    static Input text(String name, String description) {
        return new Input(name, Map.of(TYPE, STRING, DESCRIPTION, description), false);
    }

    static Input number(String name, String description, long min, long max) {
        return new Input(
                name, Map.of(TYPE, "integer", "minimum", min, "maximum", max, DESCRIPTION, description), false);
    }

    static Input flag(String name, String description) {
        return new Input(name, Map.of(TYPE, "boolean", DESCRIPTION, description), false);
    }

    static Input texts(String name, String description) {
        return list(name, description, Map.of(TYPE, STRING));
    }

    /// @param word what a choice is called
    static <T> Input choices(String name, String description, T[] choices, Function<T, String> word) {
        List<String> words = Stream.of(choices).map(word).toList();
        return list(name, description, Map.of(TYPE, STRING, "enum", words));
    }

    private static Input list(String name, String description, Map<String, Object> element) {
        return new Input(name, Map.of(TYPE, "array", "items", element, DESCRIPTION, description), false);
    }

    /// The same, without which there is no answer.
    Input required() {
        return new Input(name, schema, true);
    }
}
