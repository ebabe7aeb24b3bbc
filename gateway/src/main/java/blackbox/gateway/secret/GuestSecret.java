package blackbox.gateway.secret;

import blackbox.gateway.egress.HttpField;
import blackbox.gateway.secret.FilledHead.Filling;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A secret and what stands for it in the guest.
///
/// @param id by which the policy names it
/// @param surrogate what the guest has: letters, digits, `-` and `_`
/// @param rules the ids of the rules with whose requests it goes
public record GuestSecret(String id, String surrogate, SecretPlace place, List<String> rules, SecretValue value) {
    private static final Pattern SURROGATE = Pattern.compile("[A-Za-z0-9_-]{16,256}");
    private static final String BEARER = "Bearer ";
    private static final String BASIC = "Basic ";

    public GuestSecret {
        if (!SURROGATE.matcher(surrogate).matches()) {
            throw new IllegalArgumentException("what stands for " + id + " could be changed by quoting");
        }
        rules = List.copyOf(rules);
    }

    /// Puts the value where the surrogate stands in its place in a head, and nowhere else.
    public FilledHead fill(String target, List<HttpField> fields) {
        var filling = new Filling();
        return switch (place) {
            case SecretPlace.Body _ -> filling.head(target, fields);
            case SecretPlace.Path _ -> filling.head(path(target, filling), fields);
            case SecretPlace.Query query -> filling.head(query(target, query.name(), filling), fields);
            case SecretPlace.Credential _ -> filling.head(target, each(fields, field -> credential(field, filling)));
            case SecretPlace.Header header ->
                filling.head(
                        target,
                        each(
                                fields,
                                field -> field.is(header.name())
                                        ? replaced(field.value(), filling, this::raw)
                                        : field.value()));
            case SecretPlace.Basic _ ->
                filling.head(
                        target,
                        each(
                                fields,
                                field -> field.is("authorization") ? basic(field.value(), filling) : field.value()));
        };
    }

    /// Likewise in a body; null if the surrogate does not stand there.
    ///
    /// @param contentType as the request says; null if it does not
    /// @return a copy, which whoever sends it clears then
    /// @throws FilledBody.Unreadable with a clause about the body
    public byte @Nullable [] fill(byte[] body, @Nullable String contentType) throws FilledBody.Unreadable {
        if (!(place instanceof SecretPlace.Body inside)) {
            throw new IllegalStateException(this + " does not go into bodies");
        }
        return FilledBody.of(body, contentType, inside.at(), this);
    }

    private interface Rewriting {
        String of(HttpField field);
    }

    private static List<HttpField> each(List<HttpField> fields, Rewriting rewriting) {
        var written = new ArrayList<HttpField>(fields.size());
        fields.forEach(field -> written.add(new HttpField(field.name(), rewriting.of(field))));
        return written;
    }

    private interface Form {
        byte[] octets();
    }

    private byte[] raw() {
        return value.octets().clone();
    }

    private String replaced(String text, Filling filling, Form form) {
        var out = new StringBuilder();
        int from = 0;
        for (int at = text.indexOf(surrogate); at >= 0; at = text.indexOf(surrogate, from)) {
            out.append(text, from, at).append(filling.put(form.octets()));
            from = at + surrogate.length();
        }
        return from == 0 ? text : out.append(text, from, text.length()).toString();
    }

    private String credential(HttpField field, Filling filling) {
        String text = field.value();
        if (text.equals(surrogate)) {
            return filling.put(raw());
        }
        boolean bearer = text.regionMatches(true, 0, BEARER, 0, BEARER.length())
                && text.substring(BEARER.length()).strip().equals(surrogate);
        return bearer ? text.substring(0, BEARER.length()) + filling.put(raw()) : text;
    }

    private String basic(String text, Filling filling) {
        if (!text.regionMatches(true, 0, BASIC, 0, BASIC.length())) {
            return text;
        }
        byte[] pair;
        try {
            pair = Base64.getDecoder().decode(text.substring(BASIC.length()).strip());
        } catch (IllegalArgumentException _) {
            return text; // no Basic credentials
        }
        String known = new String(pair, StandardCharsets.ISO_8859_1);
        if (!known.contains(surrogate)) {
            return text;
        }
        var inside = new Filling();
        String placed = replaced(known, inside, this::raw);
        FilledHead head = inside.head(placed, List.of());
        byte[] filled = head.octets(placed);
        head.clear();
        byte[] encoded = Base64.getEncoder().encode(filled);
        Arrays.fill(filled, (byte) 0);
        return text.substring(0, BASIC.length()) + filling.put(encoded);
    }

    private String path(String target, Filling filling) {
        int question = target.indexOf('?');
        String path = question < 0 ? target : target.substring(0, question);
        return replaced(path, filling, this::percentEncoded) + target.substring(path.length());
    }

    private byte[] percentEncoded() {
        return Coding.PERCENT.of(value.octets());
    }

    private String query(String target, String name, Filling filling) {
        int question = target.indexOf('?');
        if (question < 0) {
            return target;
        }
        var parameters = new ArrayList<String>();
        for (String parameter : target.substring(question + 1).split("&", -1)) {
            parameters.add(
                    parameter.startsWith(name + "=") ? replaced(parameter, filling, this::percentEncoded) : parameter);
        }
        return target.substring(0, question + 1) + String.join("&", parameters);
    }

    /// Without the value, and without what stands for it.
    @Override
    public String toString() {
        return "secret " + id;
    }
}
