package blackbox.query.ocsf;

import blackbox.schemas.Vectors;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/// OCSF's own compiled schema: which attributes an event of a class may and must have, and with which values.
final class OcsfSchema {

    private final JsonNode objects;
    private final JsonNode types;
    private final Map<Integer, JsonNode> classes = new HashMap<>();

    OcsfSchema() throws IOException {
        JsonNode schema =
                new ObjectMapper().readTree(Files.readAllBytes(Vectors.folder().resolve("ocsf-1.8.0.json")));
        schema.path("classes").forEach(each -> {
            if (each.has("uid")) {
                classes.put(each.path("uid").asInt(), each);
            }
        });
        objects = schema.path("objects");
        types = schema.path("dictionary").path("types").path("attributes");
    }

    /// What is wrong with an event, in sentences.
    List<String> faults(JsonNode event) {
        JsonNode of = classes.get(event.path("class_uid").asInt(-1));
        if (of == null) {
            return List.of("there is no class " + event.path("class_uid"));
        }
        var faults = new ArrayList<String>();
        String name = of.path("name").asText();
        var profiles = new HashSet<String>();
        event.path("metadata").path("profiles").forEach(each -> profiles.add(each.asText()));
        new Check(profiles, faults).object(name, of, event);
        String caption = of.path("attributes")
                .path("activity_id")
                .path("enum")
                .path(event.path("activity_id").asText())
                .path("caption")
                .asText();
        if (!caption.equals("Other")
                && !caption.equals(event.path("activity_name").asText())) {
            faults.add(name + ": activity " + event.path("activity_name") + " is " + caption);
        }
        if (!of.path("caption").asText().equals(event.path("class_name").asText())) {
            faults.add(name + ": class_name");
        }
        return faults;
    }

    /// Columns that are no attributes of any class, or of another type.
    List<String> faults(OcsfType.Struct columns) {
        var faults = new ArrayList<String>();
        columns.fields().forEach((name, type) -> {
            List<JsonNode> attributes = classes.values().stream()
                    .map(each -> each.path("attributes").path(name))
                    .filter(each -> !each.isMissingNode())
                    .toList();
            if (attributes.isEmpty()) {
                faults.add(name + " is not known");
            }
            attributes.forEach(each -> column(name, each, type, faults));
        });
        return faults;
    }

    private void column(String path, JsonNode attribute, OcsfType type, List<String> faults) {
        OcsfType of = type;
        if (type instanceof OcsfType.Array array) {
            of = array.of();
        }
        String object = attribute.path("object_type").asText("");
        String kind = types.path(attribute.path("type").asText())
                .path("type")
                .asText(attribute.path("type").asText());
        boolean fits = switch (of) {
            case OcsfType.Array _ -> false;
            case OcsfType.Struct struct -> {
                JsonNode attributes = objects.path(object).path("attributes");
                struct.fields().forEach((name, field) -> {
                    if (!attributes.has(name)) {
                        faults.add(path + "." + name + " is not known");
                    }
                    column(path + "." + name, attributes.path(name), field, faults);
                });
                yield !object.isEmpty();
            }
            case OcsfType.Scalar scalar ->
                switch (scalar) {
                    case TEXT -> object.isEmpty() ? kind.equals("string_t") : object.equals("object");
                    case INT -> kind.equals("integer_t");
                    case LONG -> kind.equals("long_t");
                    case BOOLEAN -> kind.equals("boolean_t");
                };
        };
        if (!fits || attribute.path("is_array").asBoolean() != (type instanceof OcsfType.Array)) {
            faults.add(path + " is " + attribute.path("type") + " " + object + ", not " + type.sql());
        }
    }

    /// The check of one event, which applies some profiles.
    private final class Check {
        private final Set<String> profiles;
        private final List<String> faults;

        Check(Set<String> profiles, List<String> faults) {
            this.profiles = profiles;
            this.faults = faults;
        }

        /// Whether an attribute belongs to the class itself, or to a profile that the event applies.
        private boolean applies(JsonNode attribute) {
            JsonNode of = attribute.path("profiles");
            boolean applies = of.isEmpty();
            for (JsonNode each : of) {
                applies |= profiles.contains(each.asText());
            }
            return applies;
        }

        private void object(String path, JsonNode type, JsonNode value) {
            JsonNode attributes = type.path("attributes");
            attributes.properties().forEach(each -> {
                if (each.getValue().path("requirement").asText().equals("required")
                        && applies(each.getValue())
                        && !value.has(each.getKey())) {
                    faults.add(path + " lacks " + each.getKey());
                }
            });
            JsonNode any = type.path("constraints").path("at_least_one");
            boolean one = any.isEmpty();
            for (JsonNode each : any) {
                one |= value.has(each.asText());
            }
            if (!one) {
                faults.add(path + " has none of " + any);
            }
            value.properties().forEach(field -> {
                JsonNode attribute = attributes.path(field.getKey());
                String at = path + "." + field.getKey();
                if (attribute.isMissingNode() || !applies(attribute)) {
                    faults.add(at + " is not known");
                } else if (attribute.path("is_array").asBoolean()) {
                    if (!field.getValue().isArray()) {
                        faults.add(at + " is no array");
                    }
                    field.getValue().forEach(each -> value(at, attribute, each));
                } else {
                    value(at, attribute, field.getValue());
                }
            });
        }

        private void value(String path, JsonNode attribute, JsonNode value) {
            if (attribute.has("object_type")) {
                String object = attribute.path("object_type").asText();
                if (!value.isObject()) {
                    faults.add(path + " is no object");
                } else if (!object.equals("object")) { // which may be any
                    object(path, objects.path(object), value);
                }
                return;
            }
            JsonNode type = types.path(attribute.path("type").asText());
            String kind = type.path("type").asText(attribute.path("type").asText());
            boolean fits = switch (kind) {
                case "string_t" -> value.isTextual();
                case "integer_t" -> value.isIntegralNumber() && value.canConvertToInt();
                case "long_t" -> value.isIntegralNumber() && value.canConvertToLong();
                case "boolean_t" -> value.isBoolean();
                default -> false;
            };
            JsonNode values = attribute.path("enum");
            JsonNode range = type.path("range");
            if (!fits
                    || !values.isEmpty() && !values.has(value.asText())
                    || range.size() == 2
                            && (value.asLong() < range.path(0).asLong()
                                    || value.asLong() > range.path(1).asLong())
                    || type.has("max_len")
                            && value.asText().length() > type.path("max_len").asInt()
                    || type.has("regex")
                            && !Pattern.compile(type.path("regex").asText())
                                    .matcher(value.asText())
                                    .find()) {
                faults.add(path + " cannot be " + value);
            }
        }
    }
}
