package blackbox.calls.json;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What to keep of a JSON value. Numbers, `true`, `false` and `null` are kept wherever a shape is.
///
/// @param textCharsMax how much of a string is kept
/// @param members which members of an object, and what of them
/// @param element what of the elements of a list; null if none of them is kept
/// @param handedOver name under which each element is given to [JsonReader.Sink#element] instead of being kept
/// @param wholeCharsMax if not 0: all of the value is kept, up to so many characters of JSON
public record Shape(
        int textCharsMax,
        Map<String, Shape> members,
        @Nullable Shape element,
        @Nullable String handedOver,
        int wholeCharsMax) {
    /// Nothing but a scalar that is no string.
    public static final Shape SCALAR = new Shape(0, Map.of(), null, null, 0);

    public Shape {
        members = Map.copyOf(members);
    }

    /// A string.
    public static Shape text(int charsMax) {
        return new Shape(charsMax, Map.of(), null, null, 0);
    }

    /// All of a value.
    public static Shape whole(int charsMax) {
        return new Shape(0, Map.of(), null, null, charsMax);
    }

    /// An object with no members yet: see [#with].
    public static Shape object() {
        return SCALAR;
    }

    /// A list.
    public static Shape list(Shape element) {
        return new Shape(0, Map.of(), element, null, 0);
    }

    /// A list of any length, each element of which is handed over as it ends.
    public static Shape each(String name, Shape element) {
        return new Shape(0, Map.of(), element, name, 0);
    }

    /// This, and a member of an object.
    public Shape with(String name, Shape shape) {
        var more = new HashMap<>(members);
        more.merge(name, shape, Shape::or);
        return new Shape(textCharsMax, more, element, handedOver, wholeCharsMax);
    }

    /// This, and members that are short strings.
    public Shape texts(int charsMax, String... names) {
        Shape shape = this;
        for (String name : names) {
            shape = shape.with(name, text(charsMax));
        }
        return shape;
    }

    /// This, and members that are numbers or `true` and `false`.
    public Shape scalars(String... names) {
        return texts(0, names);
    }

    /// What either keeps. If both have elements to hand over, it is under this one's name.
    public Shape or(Shape other) {
        var union = new HashMap<>(members);
        other.members.forEach((name, shape) -> union.merge(name, shape, Shape::or));
        Shape elements = element == null ? other.element : other.element == null ? element : element.or(other.element);
        return new Shape(
                Math.max(textCharsMax, other.textCharsMax),
                union,
                elements,
                handedOver == null ? other.handedOver : handedOver,
                Math.max(wholeCharsMax, other.wholeCharsMax));
    }
}
