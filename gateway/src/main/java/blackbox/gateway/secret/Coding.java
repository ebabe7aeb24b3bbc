package blackbox.gateway.secret;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Base64;

/// A way in which others write octets. Of base64 only those characters are made that follow from the octets alone:
/// those
/// at the ends have bits of their neighbours.
enum Coding {
    PLAIN,
    /// UTF-16 of either order, without the zero octet at its beginning or end.
    UTF_16,
    HEX,
    HEX_UPPER,
    /// After a number of other octets that is a multiple of three.
    BASE64,
    BASE64_AFTER_1,
    BASE64_AFTER_2,
    /// In the alphabet for URLs.
    BASE64_URL,
    BASE64_URL_AFTER_1,
    BASE64_URL_AFTER_2,
    /// As in URLs: all but letters, digits and `-._~`.
    PERCENT,
    /// As in JSON, by those who quote slashes, too.
    JSON;

    private static final int GROUP_BITS = 6;
    private static final byte[] DIGITS = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'
    };

    byte[] of(byte[] octets) {
        return switch (this) {
            case PLAIN -> octets.clone();
            case UTF_16 -> spread(octets);
            case HEX -> hex(octets, 'a' - 'A');
            case HEX_UPPER -> hex(octets, 0);
            case BASE64 -> base64(Base64.getEncoder(), octets, 0);
            case BASE64_AFTER_1 -> base64(Base64.getEncoder(), octets, 1);
            case BASE64_AFTER_2 -> base64(Base64.getEncoder(), octets, 2);
            case BASE64_URL -> base64(Base64.getUrlEncoder(), octets, 0);
            case BASE64_URL_AFTER_1 -> base64(Base64.getUrlEncoder(), octets, 1);
            case BASE64_URL_AFTER_2 -> base64(Base64.getUrlEncoder(), octets, 2);
            case PERCENT -> percent(octets);
            case JSON -> json(octets);
        };
    }

    private static byte[] spread(byte[] octets) {
        var spread = new byte[Math.max(0, 2 * octets.length - 1)];
        for (int at = 0; at < octets.length; at++) {
            spread[2 * at] = octets[at];
        }
        return spread;
    }

    /// @param lower what is added to letters
    private static byte[] hex(byte[] octets, int lower) {
        var digits = new byte[2 * octets.length];
        for (int at = 0; at < octets.length; at++) {
            digits[2 * at] = digit(octets[at] >> 4, lower);
            digits[2 * at + 1] = digit(octets[at], lower);
        }
        return digits;
    }

    private static byte digit(int value, int lower) {
        byte digit = DIGITS[value & 0xf];
        return digit > '9' ? (byte) (digit + lower) : digit;
    }

    /// @param before how many other octets come first, modulo 3
    private static byte[] base64(Base64.Encoder encoder, byte[] octets, int before) {
        var aligned = new byte[before + octets.length];
        System.arraycopy(octets, 0, aligned, before, octets.length);
        byte[] encoded = encoder.encode(aligned);
        int first = Math.ceilDiv(before * Byte.SIZE, GROUP_BITS);
        byte[] own = Arrays.copyOfRange(encoded, first, Math.max(first, aligned.length * Byte.SIZE / GROUP_BITS));
        Arrays.fill(aligned, (byte) 0);
        Arrays.fill(encoded, (byte) 0);
        return own;
    }

    private static byte[] percent(byte[] octets) {
        var out = new Cleared();
        for (byte octet : octets) {
            boolean plain = octet >= 'a' && octet <= 'z'
                    || octet >= 'A' && octet <= 'Z'
                    || octet >= '0' && octet <= '9'
                    || "-._~".indexOf(octet) >= 0;
            if (plain) {
                out.write(octet);
            } else {
                out.write('%');
                out.write(digit(octet >> 4, 0));
                out.write(digit(octet, 0));
            }
        }
        return out.taken();
    }

    private static byte[] json(byte[] octets) {
        var out = new Cleared();
        for (byte octet : octets) {
            if (octet == '"' || octet == '\\' || octet == '/') {
                out.write('\\');
            }
            out.write(octet);
        }
        return out.taken();
    }

    /// Octets that are left nowhere but in what is taken.
    private static final class Cleared extends ByteArrayOutputStream {
        Cleared() {
            super(3 * SecretValue.OCTETS_MAX); // never moved to a larger array
        }

        byte[] taken() {
            byte[] octets = toByteArray();
            Arrays.fill(buf, (byte) 0);
            return octets;
        }
    }
}
