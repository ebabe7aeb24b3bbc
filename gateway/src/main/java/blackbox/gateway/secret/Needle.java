package blackbox.gateway.secret;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;

/// One form of an octet string, which is looked for in text of which each octet may be quoted. Base64 is looked for as
/// far as its characters follow from the octets alone: those at its ends that they share with their neighbours are not.
final class Needle {
    private static final int GROUP_BITS = 6;
    private static final int UNIT = 3;
    private static final String FILLER = "xx";

    private final String secret;
    private final Form form;
    private final byte[] octets;
    private final byte[] instead;

    private enum Form {
        RAW,
        /// In lower case here, in any case in text.
        HEX,
        /// In the standard alphabet here, in that or the one for URLs in text.
        BASE64
    }

    private Needle(String secret, Form form, byte[] octets, byte[] instead) {
        this.secret = secret;
        this.form = form;
        this.octets = octets;
        this.instead = instead;
    }

    /// All forms in which an octet string is looked for.
    ///
    /// @param secret whose it is
    /// @param surrogate what takes its place, in the same form
    static List<Needle> of(String secret, byte[] octets, String surrogate) {
        byte[] other = surrogate.getBytes(StandardCharsets.US_ASCII);
        var forms = new ArrayList<Needle>();
        forms.add(new Needle(secret, Form.RAW, octets.clone(), other));
        forms.add(new Needle(secret, Form.RAW, spread(octets), spread(other)));
        forms.add(new Needle(secret, Form.HEX, hex(octets), hex(other)));
        byte[] alike = (surrogate + FILLER.substring(0, Math.floorMod(octets.length - other.length, UNIT)))
                .getBytes(StandardCharsets.US_ASCII);
        for (int before = 0; before < UNIT; before++) {
            forms.add(new Needle(secret, Form.BASE64, base64(octets, before), base64(alike, before)));
        }
        return forms;
    }

    /// In UTF-16, of either order, without the zero octet at its end or beginning.
    private static byte[] spread(byte[] octets) {
        var spread = new byte[2 * octets.length - 1];
        for (int at = 0; at < octets.length; at++) {
            spread[2 * at] = octets[at];
        }
        return spread;
    }

    private static byte[] hex(byte[] octets) {
        var digits = new byte[2 * octets.length];
        for (int at = 0; at < octets.length; at++) {
            digits[2 * at] = (byte) Character.forDigit(octets[at] >> 4 & 0xf, 16);
            digits[2 * at + 1] = (byte) Character.forDigit(octets[at] & 0xf, 16);
        }
        return digits;
    }

    /// The characters of base64 that have bits of these octets only.
    ///
    /// @param before how many other octets come first, modulo 3
    private static byte[] base64(byte[] octets, int before) {
        var aligned = new byte[before + octets.length];
        System.arraycopy(octets, 0, aligned, before, octets.length);
        byte[] encoded = Base64.getEncoder().encode(aligned);
        int first = Math.ceilDiv(before * Byte.SIZE, GROUP_BITS);
        byte[] own = Arrays.copyOfRange(encoded, first, aligned.length * Byte.SIZE / GROUP_BITS);
        Arrays.fill(aligned, (byte) 0);
        Arrays.fill(encoded, (byte) 0);
        return own;
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
        return switch (form) {
            case RAW -> wanted == ' ' && octet == '+'; // as forms are sent
            case HEX -> wanted >= 'a' && octet == wanted - ('a' - 'A');
            case BASE64 -> wanted == '+' && octet == '-' || wanted == '/' && octet == '_';
        };
    }

    /// Whether lines may break between its octets, as base64 in mails and PEM has them.
    boolean isBroken() {
        return form == Form.BASE64;
    }

    int length() {
        return octets.length;
    }

    /// What is written in place of what was found.
    byte[] instead(byte[] text, int from, int end) {
        if (form != Form.HEX) {
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
