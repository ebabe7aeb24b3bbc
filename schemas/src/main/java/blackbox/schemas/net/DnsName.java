package blackbox.schemas.net;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// A name in a DNS message (RFC 1035 sections 3.1 and 4.1.4).
///
/// @param text its labels with dots between them: in lower case, or, of a label with octets that are not
///     printable ASCII, each octet as `\ddd`
/// @param end where the octets after it begin
/// @param isCompressed whether a part of it is elsewhere in the message
record DnsName(String text, int end, boolean isCompressed) {

    private static final int OCTETS_MAX = 255;
    private static final int LABEL_OCTETS_MAX = 63;
    private static final int JUMPS_MAX = 16;

    /// The name at `start`; null if there is none, or none that ends within the message.
    static @Nullable DnsName read(byte[] octets, int start) {
        var text = new StringBuilder();
        int behind = -1;
        int jumps = 0;
        int size = 0;
        int at = start;
        while (at < octets.length) {
            int length = Octets.u8(octets, at);
            if (length == 0) {
                return new DnsName(text.toString(), behind < 0 ? at + 1 : behind, behind >= 0);
            }
            if (length >= 0xc0) {
                if (at + 1 >= octets.length || ++jumps > JUMPS_MAX) {
                    return null;
                }
                behind = behind < 0 ? at + 2 : behind;
                at = Octets.u16(octets, at) & 0x3fff;
                continue;
            }
            if (length > LABEL_OCTETS_MAX || length >= octets.length - at || size + length > OCTETS_MAX) {
                return null;
            }
            text.append(text.isEmpty() ? "" : ".").append(label(octets, at + 1, length));
            size += length + (size == 0 ? 0 : 1);
            at += 1 + length;
        }
        return null;
    }

    private static String label(byte[] octets, int at, int length) {
        String label = new String(octets, at, length, StandardCharsets.ISO_8859_1);
        boolean plain = label.chars().allMatch(c -> c > ' ' && c < 127 && c != '.' && c != '\\');
        if (plain) {
            return label.toLowerCase(Locale.ROOT);
        }
        var escaped = new StringBuilder();
        label.chars().forEach(c -> escaped.append("\\%03d".formatted(c)));
        return escaped.toString();
    }
}
