package blackbox.gateway.http;

import blackbox.gateway.egress.HttpField;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;

/// The fields of a message's head or of its trailer, in their order. Names are compared without regard to case.
record Fields(List<HttpField> all) {
    static final Fields NONE = new Fields(List.of());

    Fields {
        all = List.copyOf(all);
    }

    List<String> values(String name) {
        return all.stream()
                .filter(field -> field.is(name))
                .map(HttpField::value)
                .toList();
    }

    boolean has(String name) {
        return all.stream().anyMatch(field -> field.is(name));
    }

    /// The members of a list that may be spread over several fields, in lower case and without what follows `;`.
    Set<String> tokens(String name) {
        var tokens = new LinkedHashSet<String>();
        for (String member : members(name)) {
            int end = member.indexOf(';');
            String token = end < 0 ? member : member.substring(0, end).strip();
            if (!token.isEmpty()) {
                tokens.add(token.toLowerCase(Locale.ROOT));
            }
        }
        return tokens;
    }

    /// The same members as they are.
    List<String> members(String name) {
        var members = new ArrayList<String>();
        for (String value : values(name)) {
            for (String member : value.split(",", -1)) {
                if (!member.isBlank()) {
                    members.add(member.strip());
                }
            }
        }
        return members;
    }

    /// How many octets their names and values have.
    long octets() {
        return all.stream()
                .mapToLong(field -> field.name().length() + field.value().length())
                .sum();
    }

    /// Those that are not meant for the next hop only (RFC 9110 section 7.6.1), and that no one else writes.
    ///
    /// @param also lower-case names that are left out, too
    Fields endToEnd(Set<String> also) {
        Set<String> named = tokens("connection");
        return filtered(name -> !HOP_BY_HOP.contains(name)
                && !name.startsWith("proxy-")
                && !named.contains(name)
                && !also.contains(name));
    }

    /// Those that may stand in a trailer: nothing that frames, routes or authenticates (RFC 9110 section 6.5.1).
    Fields trailing() {
        return filtered(name -> !HOP_BY_HOP.contains(name) && !NOT_TRAILING.contains(name));
    }

    /// All but those with these lower-case names.
    Fields without(Set<String> names) {
        return filtered(name -> !names.contains(name));
    }

    /// With one field of this name, in the place of all that had it.
    Fields with(String name, String value) {
        var fields =
                new ArrayList<>(without(Set.of(name.toLowerCase(Locale.ROOT))).all());
        fields.add(new HttpField(name, value));
        return new Fields(fields);
    }

    private Fields filtered(Predicate<String> wanted) {
        return new Fields(all.stream()
                .filter(field -> wanted.test(field.name().toLowerCase(Locale.ROOT)))
                .toList());
    }

    private static final Set<String> HOP_BY_HOP = Set.of(
            "connection", "content-length", "keep-alive", "te", "transfer-encoding", "upgrade", "http2-settings");
    private static final Set<String> NOT_TRAILING = Set.of(
            "host",
            "x-http-method-override",
            "x-http-method",
            "x-method-override",
            "x-original-url",
            "x-rewrite-url",
            "trailer",
            "expect",
            "authorization",
            "cookie",
            "set-cookie",
            "cache-control",
            "content-encoding",
            "content-type",
            "content-range",
            "location",
            "age",
            "alt-svc");
}
