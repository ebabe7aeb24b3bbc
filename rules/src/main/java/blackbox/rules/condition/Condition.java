package blackbox.rules.condition;

import blackbox.rules.event.Field;
import java.util.List;

/// What must hold of an event. A field that the event does not have fits no pattern but [TextPattern.Missing].
public sealed interface Condition {

    record All(List<Condition> parts) implements Condition {
        public All {
            parts = List.copyOf(parts);
        }
    }

    record Any(List<Condition> parts) implements Condition {
        public Any {
            parts = List.copyOf(parts);
        }
    }

    record Not(Condition part) implements Condition {}

    record Fits(Field field, TextPattern pattern) implements Condition {}

    /// Two fields have the same value, whatever the case of their ASCII letters.
    record Same(Field one, Field other) implements Condition {}

    /// All of these; the only one, if it is one.
    static Condition all(List<Condition> parts) {
        return parts.size() == 1 ? parts.getFirst() : new All(parts);
    }

    /// Any of these; the only one, if it is one.
    static Condition any(List<Condition> parts) {
        return parts.size() == 1 ? parts.getFirst() : new Any(parts);
    }
}
