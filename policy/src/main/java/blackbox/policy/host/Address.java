package blackbox.policy.host;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.Collection;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// An IP address, four or sixteen octets; IPv4-mapped ones (`::ffff:0:0/96`) are the IPv4 address that they
/// are. Compared by value, printed as dotted decimal or as RFC 5952 says.
public final class Address {

    private static final Pattern DOTTED =
            Pattern.compile("(0|[1-9][0-9]{0,2})\\.(0|[1-9][0-9]{0,2})\\.(0|[1-9][0-9]{0,2})\\.(0|[1-9][0-9]{0,2})");
    private static final Pattern SIX = Pattern.compile("[0-9a-fA-F:.]{2,45}");

    private final byte[] octets;

    private Address(byte[] octets) {
        this.octets = octets;
    }

    /// The address of four or sixteen octets.
    ///
    /// @throws IllegalArgumentException when they are of another number
    public static Address of(byte[] octets) {
        if (octets.length == 4) {
            return new Address(octets.clone());
        }
        if (octets.length != 16) {
            throw new IllegalArgumentException("an address has 4 or 16 octets, not " + octets.length);
        }
        boolean mapped = octets[10] == -1 && octets[11] == -1;
        for (int i = 0; i < 10; i++) {
            mapped &= octets[i] == 0;
        }
        return new Address(mapped ? Arrays.copyOfRange(octets, 12, 16) : octets.clone());
    }

    /// Reads an address in its usual notation: four decimal numbers, or IPv6 with or without brackets and
    /// without a scope. Null if the text is none; other notations (octal, hexadecimal, fewer numbers) are none.
    public static @Nullable Address parse(String text) {
        if (DOTTED.matcher(text).matches()) {
            var octets = new byte[4];
            String[] numbers = text.split("\\.", -1);
            for (int i = 0; i < 4; i++) {
                int number = Integer.parseInt(numbers[i]);
                if (number > 0xff) {
                    return null;
                }
                octets[i] = (byte) number;
            }
            return new Address(octets);
        }
        boolean bracketed = text.startsWith("[") && text.endsWith("]");
        String bare = bracketed ? text.substring(1, text.length() - 1) : text;
        if (!bare.contains(":") || !SIX.matcher(bare).matches()) {
            return null;
        }
        try {
            return of(InetAddress.ofLiteral(bare).getAddress());
        } catch (IllegalArgumentException _) {
            return null;
        }
    }

    public boolean isV4() {
        return octets.length == 4;
    }

    /// How many bits it has.
    int bits() {
        return octets.length * Byte.SIZE;
    }

    /// Whether the first `prefix` bits are those of `other`, of the same family.
    boolean startsLike(Address other, int prefix) {
        if (octets.length != other.octets.length) {
            return false;
        }
        int whole = prefix / Byte.SIZE;
        int rest = prefix % Byte.SIZE;
        return Arrays.equals(octets, 0, whole, other.octets, 0, whole)
                && (rest == 0 || ((octets[whole] ^ other.octets[whole]) & 0xff) >> Byte.SIZE - rest == 0);
    }

    /// Whether all bits after the first `prefix` are 0.
    boolean endsAfter(int prefix) {
        for (int bit = prefix; bit < bits(); bit++) {
            if ((octets[bit / Byte.SIZE] >> Byte.SIZE - 1 - bit % Byte.SIZE & 1) != 0) {
                return false;
            }
        }
        return true;
    }

    /// The IPv4 address in four of its octets.
    Address embedded(int from) {
        return new Address(Arrays.copyOfRange(octets, from, from + 4));
    }

    /// Whether it is in one of the ranges.
    public boolean isIn(Collection<AddressRange> ranges) {
        return ranges.stream().anyMatch(range -> range.contains(this));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Address address && Arrays.equals(octets, address.octets);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(octets);
    }

    @Override
    public String toString() {
        return isV4() ? v4() : v6();
    }

    private String v4() {
        return (octets[0] & 0xff) + "." + (octets[1] & 0xff) + "." + (octets[2] & 0xff) + "." + (octets[3] & 0xff);
    }

    /// RFC 5952: the first of the longest runs of zeros is left out.
    private String v6() {
        var groups = new int[8];
        for (int i = 0; i < 8; i++) {
            groups[i] = (octets[2 * i] & 0xff) << 8 | octets[2 * i + 1] & 0xff;
        }
        int start = -1;
        int longest = 1;
        for (int i = 0; i < 8; i++) {
            int end = i;
            while (end < 8 && groups[end] == 0) {
                end++;
            }
            if (end - i > longest) {
                start = i;
                longest = end - i;
            }
        }
        var text = new StringBuilder();
        for (int i = 0; i < 8; i++) {
            if (i == start) {
                text.append("::");
                i += longest - 1;
            } else {
                text.append(text.isEmpty() || text.charAt(text.length() - 1) == ':' ? "" : ":")
                        .append(Integer.toHexString(groups[i]));
            }
        }
        return text.toString();
    }
}
