package blackbox.vault.age;

import java.io.ByteArrayOutputStream;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Bech32 (BIP 173) without its limit of 90 characters: the text form of age's keys.
final class Bech32 {

    private static final String ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    private static final int CHECKSUM = 6;
    private static final int CHARACTERS_MAX = 200;
    private static final int[] GENERATOR = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};

    private Bech32() {}

    /// Encodes octets in lower case.
    static String encode(String prefix, byte[] octets) {
        byte[] values = regroup(octets, 8, 5, true);
        if (values == null) {
            throw new IllegalStateException("octets always have groups of five bits");
        }
        var text = new StringBuilder(prefix).append('1');
        int checksum = 1;
        for (byte value : expanded(prefix)) {
            checksum = step(checksum, value);
        }
        for (byte value : values) {
            checksum = step(checksum, value);
            text.append(ALPHABET.charAt(value));
        }
        for (int i = 0; i < CHECKSUM; i++) {
            checksum = step(checksum, 0);
        }
        checksum ^= 1;
        for (int i = 0; i < CHECKSUM; i++) {
            text.append(ALPHABET.charAt(checksum >>> 5 * (CHECKSUM - 1 - i) & 31));
        }
        return text.toString();
    }

    /// The octets of a text with this prefix, all of it in one case; null if it is none.
    static byte @Nullable [] decode(String prefix, String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        boolean mixed = !text.equals(lower) && !text.equals(text.toUpperCase(Locale.ROOT));
        int from = prefix.length() + 1;
        if (mixed
                || text.length() > CHARACTERS_MAX
                || text.length() < from + CHECKSUM
                || !lower.startsWith(prefix + "1")) {
            return null;
        }
        int checksum = 1;
        for (byte value : expanded(prefix)) {
            checksum = step(checksum, value);
        }
        var values = new byte[text.length() - from];
        for (int i = 0; i < values.length; i++) {
            int value = ALPHABET.indexOf(lower.charAt(from + i));
            if (value < 0) {
                return null;
            }
            values[i] = (byte) value;
            checksum = step(checksum, value);
        }
        return checksum == 1 ? regroup(java.util.Arrays.copyOf(values, values.length - CHECKSUM), 5, 8, false) : null;
    }

    private static byte[] expanded(String prefix) {
        int length = prefix.length();
        var values = new byte[2 * length + 1];
        for (int i = 0; i < length; i++) {
            values[i] = (byte) (prefix.charAt(i) >> 5);
            values[length + 1 + i] = (byte) (prefix.charAt(i) & 31);
        }
        return values;
    }

    private static int step(int checksum, int value) {
        int top = checksum >>> 25;
        int next = (checksum & 0x1ffffff) << 5 ^ value;
        for (int i = 0; i < GENERATOR.length; i++) {
            next ^= (top >> i & 1) == 1 ? GENERATOR[i] : 0;
        }
        return next;
    }

    /// Groups of `from` bits as groups of `to`; null when what is left over without padding is not zero or too long.
    private static byte @Nullable [] regroup(byte[] values, int from, int to, boolean pad) {
        var out = new ByteArrayOutputStream();
        int bits = 0;
        int have = 0;
        for (byte value : values) {
            bits = (bits << from | value & (1 << from) - 1) & 0xfff;
            have += from;
            while (have >= to) {
                have -= to;
                out.write(bits >> have & (1 << to) - 1);
            }
        }
        int left = bits & (1 << have) - 1;
        if (pad && have > 0) {
            out.write(left << to - have);
        } else if (!pad && (have >= from || left != 0)) {
            return null;
        }
        return out.toByteArray();
    }
}
