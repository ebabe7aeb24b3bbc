package blackbox.evidence.verify;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Reads the few values that verification needs from the JSON in a leaf's detail, token by token: the verifier
/// has no data binding.
public final class LeafDetail {

    /// The field of a `run.open` leaf's detail that says who recorded, and its field with the run key's
    /// certificate.
    public static final String RECORDER = "recorder";

    public static final String CERTIFICATE = "certificate";

    /// The field of a `run.open` leaf's detail that says which service the run is the record of; runs of agents
    /// have none.
    public static final String SERVICE = "service";

    /// Its value: the run is the record of who asked `serve` what.
    public static final String ACCESS = "access";

    /// The field of a `run.open` leaf's detail that says how long nothing need be sealed while nothing happens.
    public static final String IDLE_SECONDS = "idleSeconds";

    private static final JsonFactory JSON = new JsonFactory();

    private LeafDetail() {}

    /// Whether a `run.open` leaf's detail says that the run is the record of who asked `serve` what.
    static boolean isOfAccess(String detail) {
        return ACCESS.equals(text(detail, SERVICE));
    }

    /// The value of `recorder.certificate` in an opening leaf.
    ///
    /// @param there whether there is one
    /// @param note the text, or null if the value is not a text
    public record Certificate(boolean there, @Nullable String note) {

        public static final Certificate NONE = new Certificate(false, null);
    }

    /// The certificate in a `run.open` leaf's detail. Of several the last one counts, as for other JSON
    /// readers.
    public static Certificate certificate(String detail) {
        Certificate found = Certificate.NONE;
        try (JsonParser json = JSON.createParser(detail)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return found;
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                boolean recorder = json.currentName().equals(RECORDER);
                JsonToken value = json.nextToken();
                if (recorder) {
                    found = Certificate.NONE;
                }
                if (recorder && value == JsonToken.START_OBJECT) {
                    found = inRecorder(json);
                } else {
                    json.skipChildren();
                }
            }
            return found;
        } catch (IOException e) {
            return Certificate.NONE;
        }
    }

    private static Certificate inRecorder(JsonParser json) throws IOException {
        Certificate found = Certificate.NONE;
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            boolean certificate = json.currentName().equals(CERTIFICATE);
            JsonToken value = json.nextToken();
            if (certificate) {
                found = new Certificate(true, value == JsonToken.VALUE_STRING ? json.getText() : null);
            }
            json.skipChildren();
        }
        return found;
    }

    /// The text of a field of the object; null if it has none, or another value.
    public static @Nullable String text(String detail, String field) {
        String found = null;
        try (JsonParser json = JSON.createParser(detail)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return null;
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                boolean wanted = json.currentName().equals(field);
                JsonToken value = json.nextToken();
                if (wanted) {
                    found = value == JsonToken.VALUE_STRING ? json.getText() : null;
                }
                json.skipChildren();
            }
            return found;
        } catch (IOException e) {
            return null;
        }
    }

    /// The numbers at `cpuSeq` in a `tracer.ready` leaf's detail, at most `cpusMax`; empty if there are none.
    static long[] cpuSequences(String detail, int cpusMax) {
        var numbers = new ArrayList<Long>();
        try (JsonParser json = JSON.createParser(detail)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return new long[0];
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                boolean wanted = json.currentName().equals("cpuSeq");
                if (json.nextToken() == JsonToken.START_ARRAY && wanted) {
                    while (json.nextToken() == JsonToken.VALUE_NUMBER_INT && numbers.size() < cpusMax) {
                        numbers.add(json.getLongValue());
                    }
                    break;
                }
                json.skipChildren();
            }
        } catch (IOException e) {
            return new long[0];
        }
        return numbers.stream().mapToLong(Long::longValue).toArray();
    }

    /// Whether the detail is an object whose field of that name is true. Of several the last one counts.
    static boolean isTrue(String detail, String name) {
        boolean found = false;
        try (JsonParser json = JSON.createParser(detail)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return false;
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                boolean wanted = json.currentName().equals(name);
                JsonToken value = json.nextToken();
                found = wanted ? value == JsonToken.VALUE_TRUE : found;
                json.skipChildren();
            }
            return found;
        } catch (IOException e) {
            return false;
        }
    }

    /// Whether the detail is an object whose field of that name is an array that is not empty.
    static boolean hasElements(String detail, String name) {
        return anyElement(detail, name, _ -> true);
    }

    /// Whether the detail is an object with an array of that name among whose elements is that text.
    public static boolean holds(String detail, String name, String text) {
        return anyElement(
                detail,
                name,
                json -> json.currentToken() == JsonToken.VALUE_STRING
                        && json.getText().equals(text));
    }

    /// Tests the element that a parser is at.
    @FunctionalInterface
    private interface ElementTest {
        boolean holds(JsonParser json) throws IOException;
    }

    private static boolean anyElement(String detail, String name, ElementTest test) {
        boolean found = false;
        try (JsonParser json = JSON.createParser(detail)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return false;
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                boolean wanted = json.currentName().equals(name);
                if (json.nextToken() == JsonToken.START_ARRAY && wanted) {
                    while (json.nextToken() != JsonToken.END_ARRAY) {
                        found |= test.holds(json);
                        json.skipChildren();
                    }
                }
                json.skipChildren();
            }
            return found;
        } catch (IOException e) {
            return false;
        }
    }

    /// The fields of an object that are whole numbers of 64 bits; empty for anything else than an object.
    public static Map<String, Long> numbers(String detail) {
        var numbers = new HashMap<String, Long>();
        try (JsonParser json = JSON.createParser(detail)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return Map.of();
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                if (json.nextToken() == JsonToken.VALUE_NUMBER_INT) {
                    numbers.put(name, json.getLongValue());
                }
                json.skipChildren();
            }
            return numbers;
        } catch (IOException e) {
            return Map.of();
        }
    }
}
