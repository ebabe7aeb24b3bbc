package blackbox.node.mcp;

import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A tool call's arguments. One that the tool does not know is refused, as are those of another type: a model
/// that guesses a name would otherwise get an answer to another question.
final class Arguments {
    /// The greatest whole number that every reader of JSON knows.
    static final long INDEX_MAX = (1L << 53) - 1;

    private final Map<String, Object> given;

    private Arguments(Map<String, Object> given) {
        this.given = given;
    }

    /// @param known the names that the tool takes
    /// @throws QueryException `BAD_INPUT` when there are others
    static Arguments of(@Nullable Map<String, Object> given, List<String> known) throws QueryException {
        var present = new LinkedHashMap<String, Object>();
        if (given != null) {
            given.forEach((name, value) -> {
                if (value != null) {
                    present.put(name, value);
                }
            });
        }
        for (String name : present.keySet()) {
            if (!known.contains(name)) {
                throw bad("there is no argument '" + name + "'; this tool takes " + String.join(", ", known));
            }
        }
        return new Arguments(present);
    }

    String text(String name) throws QueryException {
        String value = optionalText(name);
        if (value == null) {
            throw bad("the argument '" + name + "' is missing");
        }
        return value;
    }

    @Nullable
    String optionalText(String name) throws QueryException {
        return switch (given.get(name)) {
            case null -> null;
            case String text -> text;
            default -> throw bad("the argument '" + name + "' must be a string");
        };
    }

    /// An index.
    long index(String name) throws QueryException {
        if (!given.containsKey(name)) {
            throw bad("the argument '" + name + "' is missing");
        }
        return number(name, 0, 0, INDEX_MAX);
    }

    /// @param missing the value if it is not given
    long number(String name, long missing, long min, long max) throws QueryException {
        long value = switch (given.get(name)) {
            case null -> missing;
            case Integer number -> number;
            case Long number -> number;
            default -> throw bad("the argument '" + name + "' must be a whole number");
        };
        if (value < min || value > max) {
            throw bad("the argument '" + name + "' must be from " + min + " to " + max);
        }
        return value;
    }

    boolean flag(String name) throws QueryException {
        return switch (given.get(name)) {
            case null -> false;
            case Boolean flag -> flag;
            default -> throw bad("the argument '" + name + "' must be true or false");
        };
    }

    List<String> texts(String name) throws QueryException {
        Object value = given.get(name);
        if (value == null) {
            return List.of();
        }
        var texts = new ArrayList<String>();
        if (value instanceof List<?> list) {
            for (Object each : list) {
                if (each instanceof String text) {
                    texts.add(text);
                }
            }
            if (texts.size() == list.size()) {
                return texts;
            }
        }
        throw bad("the argument '" + name + "' must be a list of strings");
    }

    private static QueryException bad(String message) {
        return new QueryException(Code.BAD_INPUT, message);
    }
}
