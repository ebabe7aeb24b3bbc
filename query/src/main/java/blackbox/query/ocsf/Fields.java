package blackbox.query.ocsf;

import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/// An object of OCSF while it is filled. A null is not known, and left out.
final class Fields {

    private final ObjectNode node = JsonNodeFactory.instance.objectNode();

    Fields put(String name, @Nullable String value) {
        if (value != null) {
            node.put(name, value);
        }
        return this;
    }

    Fields put(String name, @Nullable Text value) {
        return put(name, value == null ? null : value.toString());
    }

    Fields put(String name, @Nullable Long value) {
        if (value != null) {
            node.put(name, value);
        }
        return this;
    }

    /// For attributes of OCSF's `integer_t`, which has 32 bits: a greater number is left out.
    Fields putInt(String name, @Nullable Long value) {
        return value == null || value != value.intValue() ? this : put(name, value.intValue());
    }

    Fields put(String name, int value) {
        node.put(name, value);
        return this;
    }

    Fields put(String name, boolean value) {
        node.put(name, value);
        return this;
    }

    /// Leaves an object without fields out.
    Fields put(String name, @Nullable Fields value) {
        if (value != null && !value.isEmpty()) {
            node.set(name, value.node);
        }
        return this;
    }

    Fields put(String name, JsonNode value) {
        if (!value.isMissingNode() && !value.isNull()) {
            node.set(name, value);
        }
        return this;
    }

    boolean isEmpty() {
        return node.isEmpty();
    }

    ObjectNode node() {
        return node;
    }
}
