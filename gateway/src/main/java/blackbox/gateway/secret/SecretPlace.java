package blackbox.gateway.secret;

import com.fasterxml.jackson.core.JsonPointer;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Where in a request a surrogate is exchanged for its value.
public sealed interface SecretPlace {

    /// Any header field in which it stands alone or as `Bearer SURROGATE`.
    record Credential() implements SecretPlace {
        @Override
        public String words() {
            return "a header field, alone or after Bearer";
        }
    }

    /// Anywhere in the header fields of one name.
    ///
    /// @param name in lower case
    record Header(String name) implements SecretPlace {
        @Override
        public String words() {
            return "the header field " + name;
        }
    }

    /// User or password of `Authorization: Basic`.
    record Basic() implements SecretPlace {
        @Override
        public String words() {
            return "Authorization: Basic";
        }
    }

    /// The value of one parameter of the query.
    record Query(String name) implements SecretPlace {
        @Override
        public String words() {
            return "the query parameter " + name;
        }
    }

    /// Anywhere in the path.
    record Path() implements SecretPlace {
        @Override
        public String words() {
            return "the path";
        }
    }

    /// The whole of a string in a body of JSON, or of a parameter of a form.
    ///
    /// @param at where; in a form its one segment is the parameter's name
    record Body(JsonPointer at) implements SecretPlace {
        @Override
        public String words() {
            return "the body at " + at;
        }
    }

    /// For people.
    String words();

    /// What the gateway writes itself, or does not pass on.
    Set<String> NOT_FIELDS = Set.of(
            "host",
            "connection",
            "content-length",
            "transfer-encoding",
            "te",
            "trailer",
            "upgrade",
            "keep-alive",
            "http2-settings",
            "expect",
            "accept-encoding",
            "range",
            "if-range");

    /// Reads a policy's word for it.
    ///
    /// @param text `header:NAME`, `basic`, `query:NAME`, `path` or `body:/JSON/POINTER`; null for [Credential]
    /// @throws IllegalArgumentException with a sentence if the gateway puts no secret there
    static SecretPlace parse(@Nullable String text) {
        if (text == null) {
            return new Credential();
        }
        int colon = text.indexOf(':');
        String kind = colon < 0 ? text : text.substring(0, colon);
        String name = colon < 0 ? "" : text.substring(colon + 1);
        return switch (kind) {
            case "basic" -> new Basic();
            case "header" -> {
                String field = name.toLowerCase(Locale.ROOT);
                if (NOT_FIELDS.contains(field) || field.startsWith("proxy-")) {
                    throw new IllegalArgumentException(
                            "the gateway writes the header field " + field + " itself or does not pass it on");
                }
                yield new Header(field);
            }
            case "query" -> new Query(name);
            case "path" -> new Path();
            case "body" -> new Body(JsonPointer.compile(name));
            default -> throw new IllegalArgumentException("the gateway knows no place " + kind);
        };
    }
}
