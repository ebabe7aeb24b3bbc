package blackbox.policy.host;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The path of a request's target, in the one form that is compared and forwarded, or why it has none.
///
/// Servers disagree on what `/a/..;/b`, `/a//b` or `/a%2fb` name. A rule about paths is therefore never asked
/// about such a path: it is refused.
public sealed interface RequestPath {

    /// Longer targets are refused.
    int CHARACTERS_MAX = 8_192;

    /// A path that every server reads alike.
    ///
    /// @param text begins with `/`; unreserved characters are plain, other octets `%XX` in upper case (RFC
    ///     3986, section 6.2.2)
    record Clean(String text) implements RequestPath {
        /// What is between the slashes; the last is empty where the path ends with a slash.
        public List<String> segments() {
            return List.of(text.substring(1).split("/", -1));
        }

        /// Whether a slash is encoded in a segment, as in names of scoped npm packages.
        public boolean hasEncodedSlash() {
            return text.contains("%2F");
        }
    }

    /// A path that servers may read differently.
    ///
    /// @param why a clause: `it has a dot segment`
    record Unsafe(String why) implements RequestPath {}

    /// The path of a target in origin form (RFC 9112, section 3.2.1); what follows `?` is not part of it.
    static RequestPath of(String target) {
        int query = target.indexOf('?');
        String path = query < 0 ? target : target.substring(0, query);
        if (path.length() > CHARACTERS_MAX) {
            return new Unsafe("it is longer than " + CHARACTERS_MAX + " characters");
        }
        if (!path.startsWith("/")) {
            return new Unsafe("it does not begin with /");
        }
        var text = new StringBuilder();
        for (int at = 0; at < path.length(); at++) {
            char c = path.charAt(at);
            if (c == '%') {
                String octet = escaped(path, at);
                if (octet == null) {
                    return new Unsafe("it has a % that is not followed by two hexadecimal digits");
                }
                String why = whyNotEncoded(octet, path, at);
                if (why != null) {
                    return new Unsafe(why);
                }
                text.append(octet);
                at += 2;
            } else if (c <= ' ' || c >= 0x7f || c == '\\' || c == '#') {
                return new Unsafe(
                        c == '\\' ? "it has a backslash" : "it has a character that a path does not have plain");
            } else {
                text.append(c);
            }
        }
        return whole(new Clean(text.toString()));
    }

    /// A target with its path in the form that is compared, or as it is if that has none: then only rules without
    /// paths can have allowed it.
    static String forwarded(String target) {
        int query = target.indexOf('?');
        return of(target) instanceof Clean path ? path.text() + (query < 0 ? "" : target.substring(query)) : target;
    }

    private static RequestPath whole(Clean path) {
        List<String> segments = path.segments();
        for (int i = 0; i < segments.size(); i++) {
            String name = segments.get(i);
            if (name.isEmpty() && i < segments.size() - 1) {
                return new Unsafe("it has an empty segment (//)");
            }
            // Also where an encoded slash is a character: a server that decodes first sees a segment there.
            for (String part : name.split("%2F", -1)) {
                int parameters = part.indexOf(';');
                String bare = parameters < 0 ? part : part.substring(0, parameters);
                if (bare.equals(".") || bare.equals("..")) {
                    return new Unsafe("it has a dot segment");
                }
            }
        }
        return isUtf8(path.text()) ? path : new Unsafe("its encoded octets are not UTF-8");
    }

    /// Whether the encoded octets are UTF-8 in its shortest form (RFC 3629): some servers take `%C0%AE` for a dot.
    private static boolean isUtf8(String path) {
        var octets = new ByteArrayOutputStream(path.length());
        for (int at = 0; at < path.length(); at++) {
            boolean encoded = path.charAt(at) == '%';
            octets.write(encoded ? hex(path, at + 1) : path.charAt(at));
            at += encoded ? 2 : 0;
        }
        try {
            var unused = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(octets.toByteArray()));
            return true;
        } catch (CharacterCodingException _) {
            return false;
        }
    }

    /// What stands for `%XX`: an unreserved character itself, except the dot; anything else in upper case.
    private static @Nullable String escaped(String path, int at) {
        int octet = hex(path, at + 1);
        if (octet < 0) {
            return null;
        }
        boolean plain = octet >= 'a' && octet <= 'z'
                || octet >= 'A' && octet <= 'Z'
                || octet >= '0' && octet <= '9'
                || octet == '-'
                || octet == '_'
                || octet == '~';
        return plain ? String.valueOf((char) octet) : "%%%02X".formatted(octet);
    }

    private static @Nullable String whyNotEncoded(String octet, String path, int at) {
        return switch (octet) {
            case "%2E" -> "it has an encoded dot (%2E)";
            case "%5C" -> "it has an encoded backslash (%5C)";
            case "%3B" -> "it has an encoded semicolon (%3B)";
            case "%25" -> hex(path, at + 3) < 0 ? null : "it has an octet that is encoded twice (%25)";
            default ->
                octet.length() == 3 && (octet.charAt(1) < '2' || octet.equals("%7F"))
                        ? "it has an encoded control character"
                        : null;
        };
    }

    /// The octet that two hexadecimal digits give; -1 if there are none.
    private static int hex(String path, int at) {
        if (at + 2 > path.length() || path.charAt(at) >= 0x80 || path.charAt(at + 1) >= 0x80) {
            return -1;
        }
        int high = Character.digit(path.charAt(at), 16);
        int low = Character.digit(path.charAt(at + 1), 16);
        return high < 0 || low < 0 ? -1 : high << 4 | low;
    }
}
