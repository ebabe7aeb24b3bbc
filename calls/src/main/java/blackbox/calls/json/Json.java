package blackbox.calls.json;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A JSON value, or what was kept of it.
public sealed interface Json {

    /// A member of an object; null if this is no object or has no such member.
    default @Nullable Json get(String name) {
        return this instanceof Obj(Map<String, Json> members) ? members.get(name) : null;
    }

    /// The text of a member that is a string; null if there is none.
    default @Nullable String text(String name) {
        return get(name) instanceof Text text ? text.value : null;
    }

    /// A member that is a number and whole, from 0 to 10^15 - 1; null if there is none.
    default @Nullable Long count(String name) {
        return get(name) instanceof Num(String digits) ? wholeNumber(digits) : null;
    }

    /// The elements of a member that is a list; empty if there is none.
    default List<Json> list(String name) {
        return get(name) instanceof Arr list ? list.elements : List.of();
    }

    /// The number that these digits, and nothing else, are; null if they are none from 0 to 10^15 - 1.
    static @Nullable Long wholeNumber(String digits) {
        boolean whole =
                !digits.isEmpty() && digits.length() <= 15 && digits.chars().allMatch(c -> c >= '0' && c <= '9');
        return whole ? Long.valueOf(digits) : null;
    }

    /// An object without one of its members.
    static Json without(Map<String, Json> members, String name) {
        var rest = new LinkedHashMap<>(members);
        rest.remove(name);
        return new Obj(rest);
    }

    /// An object. Of members with the same name the last is here.
    record Obj(Map<String, Json> members) implements Json {
        Obj() {
            this(new LinkedHashMap<>());
        }
    }

    /// A list.
    record Arr(List<Json> elements) implements Json {
        Arr() {
            this(new ArrayList<>());
        }
    }

    /// A string.
    ///
    /// @param cut whether it was longer
    record Text(String value, boolean cut) implements Json {}

    /// A number, as it was written.
    record Num(String digits) implements Json {}

    /// `true` or `false`.
    record Bool(boolean value) implements Json {}

    /// `null`.
    record Null() implements Json {
        static final Null NULL = new Null();
    }

    /// A value that was kept whole, up to a bound.
    ///
    /// @param cut whether there was more of it
    record Whole(Json value, boolean cut) implements Json {}
}
