package blackbox.schemas.net;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/// IP addresses as text: dotted IPv4, RFC 5952 IPv6, IPv4-mapped ones as IPv4.
public final class IpAddress {

    private IpAddress() {}

    /// An address in the form of this class, whatever form it is given in; null if the text is no address that
    /// certificates and other hosts could know, such as a host name, or an address with a scope (RFC 4007, section
    /// 11). Asks no resolver.
    public static @Nullable String canonical(String text) {
        try {
            return text.contains("%") ? null : text(InetAddress.ofLiteral(text).getAddress());
        } catch (IllegalArgumentException _) {
            return null;
        }
    }

    /// A host without the brackets that an IPv6 address has before a port (RFC 3986, section 3.2.2).
    public static String withoutBrackets(String host) {
        return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    }

    /// Whether an address in the form of this class is one of the host's own, which reaches no network.
    public static boolean isLoopback(String address) {
        return address.startsWith("127.") || address.equals("::1");
    }

    /// An address of four or sixteen octets.
    public static String text(byte[] address) {
        return address.length == 4 ? v4(address, 0) : v6(address, 0);
    }

    /// Four octets as dotted decimal.
    public static String v4(byte[] octets, int at) {
        return (octets[at] & 0xff) + "." + (octets[at + 1] & 0xff) + "." + (octets[at + 2] & 0xff) + "."
                + (octets[at + 3] & 0xff);
    }

    /// Sixteen octets in the canonical form of RFC 5952.
    public static String v6(byte[] octets, int at) {
        var groups = new int[8];
        boolean mapped = true;
        for (int i = 0; i < 8; i++) {
            groups[i] = Octets.u16(octets, at + 2 * i);
            mapped &= i >= 6 || groups[i] == (i == 5 ? 0xffff : 0);
        }
        return mapped ? v4(octets, at + 12) : text(groups);
    }

    private static String text(int[] groups) {
        int bestStart = -1;
        int bestLength = 1;
        for (int i = 0; i < 8; i++) {
            int length = 0;
            while (i + length < 8 && groups[i + length] == 0) {
                length++;
            }
            if (length > bestLength) {
                bestStart = i;
                bestLength = length;
            }
        }
        var text = new StringBuilder();
        for (int i = 0; i < 8; i++) {
            if (i == bestStart) {
                text.append("::");
                i += bestLength - 1;
            } else {
                boolean separated = text.isEmpty() || text.charAt(text.length() - 1) == ':';
                text.append(separated ? "" : ":").append(Integer.toHexString(groups[i]));
            }
        }
        return text.toString();
    }
}
