package blackbox.recorder;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/// An event's detail: one JSON object, its fields in the order in which they were put.
public final class Detail {

    private static final JsonMapper JSON = new JsonMapper();

    private final ObjectNode object = JSON.createObjectNode();

    private Detail() {}

    public static Detail empty() {
        return new Detail();
    }

    public static Detail of(String name, long value) {
        return new Detail().and(name, value);
    }

    public Detail and(String name, long value) {
        object.put(name, value);
        return this;
    }

    public Detail and(String name, String value) {
        object.put(name, value);
        return this;
    }

    public Detail and(String name, boolean value) {
        object.put(name, value);
        return this;
    }

    public Detail and(String name, Detail value) {
        object.set(name, value.object);
        return this;
    }

    /// The object as JSON without spaces.
    @Override
    public String toString() {
        return object.toString();
    }
}
