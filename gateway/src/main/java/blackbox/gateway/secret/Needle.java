package blackbox.gateway.secret;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// One form of an octet string, which is looked for in text of which each octet may be quoted.
///
/// The forms are the string as it is, in UTF-16, in hexadecimal and in base64 at its three phases, and each of these of
/// such a form, or of the string as it is quoted in URLs or JSON: what others wrap once or twice.
final class Needle {
    private static final List<Coding> OUTER =
            List.of(Coding.UTF_16, Coding.HEX, Coding.BASE64, Coding.BASE64_AFTER_1, Coding.BASE64_AFTER_2);
    private static final int GROUP_OCTETS = 3;
    /// What makes a surrogate as long as a value, as far as base64 in base64 has to know.
    private static final String FILLER = "xxxxxxxx";

    private final String secret;
    private final Coding outer;
    private final byte[] octets;
    private final byte[] instead;

    private Needle(String secret, Coding outer, byte[] octets, byte[] instead) {
        this.secret = secret;
        this.outer = outer;
        this.octets = octets;
        this.instead = instead;
    }

    /// All forms in which an octet string is looked for.
    ///
    /// @param secret whose it is
    /// @param surrogate what takes its place, in the same form
    static List<Needle> of(String secret, byte[] octets, String surrogate) {
        var needles = new ArrayList<Needle>();
        needles.add(new Needle(secret, Coding.PLAIN, octets.clone(), surrogate.getBytes(StandardCharsets.US_ASCII)));
        var inside = new ArrayList<byte[]>();
        for (Coding inner : Coding.values()) {
            byte[] within = inner.of(octets);
            if (inside.stream().anyMatch(known -> Arrays.equals(known, within))) {
                Arrays.fill(within, (byte) 0); // nothing in it that this would change
                continue;
            }
            inside.add(within);
            for (Coding outer : OUTER) {
                needles.add(
                        new Needle(secret, outer, outer.of(within), instead(within, inner, outer, octets, surrogate)));
            }
        }
        inside.forEach(within -> Arrays.fill(within, (byte) 0));
        return needles;
    }

    /// The surrogate in the same form, and so long that what follows in base64 can be read as before.
    private static byte[] instead(byte[] within, Coding inner, Coding outer, byte[] octets, String surrogate) {
        for (int more = 0; more <= FILLER.length(); more++) {
            byte[] alike = (surrogate + FILLER.substring(0, more)).getBytes(StandardCharsets.US_ASCII);
            byte[] wrapped = inner.of(alike);
            boolean innerFits = isNoBase64(inner) || (alike.length - octets.length) % GROUP_OCTETS == 0;
            boolean outerFits = isNoBase64(outer) || (wrapped.length - within.length) % GROUP_OCTETS == 0;
            if (innerFits && outerFits) {
                return outer.of(wrapped);
            }
        }
        throw new IllegalStateException(outer + " of " + inner + " has no surrogate of a length that fits");
    }

    private static boolean isNoBase64(Coding coding) {
        return switch (coding) {
            case PLAIN, UTF_16, HEX, HEX_UPPER, PERCENT, JSON -> true;
            case BASE64, BASE64_AFTER_1, BASE64_AFTER_2, BASE64_URL, BASE64_URL_AFTER_1, BASE64_URL_AFTER_2 -> false;
        };
    }

    String secret() {
        return secret;
    }

    /// Whether an octet of a text, read as it is meant, is the one at a place of this.
    boolean accepts(int place, int octet) {
        int wanted = octets[place];
        if (octet == wanted) {
            return true;
        }
        return switch (outer) {
            case PLAIN, UTF_16 -> wanted == ' ' && octet == '+'; // as forms are sent
            case HEX -> wanted >= 'a' && octet == wanted - ('a' - 'A');
            case BASE64, BASE64_AFTER_1, BASE64_AFTER_2 ->
                wanted == '+' && octet == '-' || wanted == '/' && octet == '_';
            case HEX_UPPER, BASE64_URL, BASE64_URL_AFTER_1, BASE64_URL_AFTER_2, PERCENT, JSON -> false; // never outer
        };
    }

    /// Whether lines may break between its octets, as base64 in mails, PEM and YAML has them.
    boolean isBroken() {
        return !isNoBase64(outer);
    }

    int length() {
        return octets.length;
    }

    /// What is written in place of what was found.
    byte[] instead(byte[] text, int from, int end) {
        if (outer != Coding.HEX) {
            return instead;
        }
        for (int at = from; at < end; at++) {
            if (text[at] >= 'A' && text[at] <= 'F') {
                return new String(instead, StandardCharsets.US_ASCII)
                        .toUpperCase(Locale.ROOT)
                        .getBytes(StandardCharsets.US_ASCII);
            }
        }
        return instead;
    }

    void clear() {
        Arrays.fill(octets, (byte) 0);
    }
}
