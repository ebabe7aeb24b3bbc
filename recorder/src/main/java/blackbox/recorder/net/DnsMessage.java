package blackbox.recorder.net;

import blackbox.schemas.net.IpAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The parts of a DNS message (RFC 1035) that say what was asked and what the answer was: the first question
/// and the A, AAAA and CNAME answers. Names are lower-cased; octets that are not printable ASCII are escaped
/// as `\ddd`.
public record DnsMessage(int id, boolean response, String name, int type, List<String> answers) {

    private static final int NAME_OCTETS_MAX = 255;
    private static final int JUMPS_MAX = 16;
    private static final int ANSWERS_MAX = 64;

    public DnsMessage {
        answers = List.copyOf(answers);
    }

    /// Reads a message; null if it is not a message with a question.
    public static @Nullable DnsMessage parse(byte[] octets) {
        if (octets.length < 17 || u16(octets, 4) == 0) {
            return null;
        }
        var name = new StringBuilder();
        int at = name(octets, 12, name);
        if (at < 0 || octets.length - at < 4) {
            return null;
        }
        boolean response = (octets[2] & 0x80) != 0;
        var answers = new ArrayList<String>();
        if (response && u16(octets, 4) == 1) {
            readAnswers(octets, at + 4, Math.min(u16(octets, 6), ANSWERS_MAX), answers);
        }
        return new DnsMessage(u16(octets, 0), response, name.toString(), u16(octets, at), answers);
    }

    private static void readAnswers(byte[] octets, int from, int count, List<String> answers) {
        int at = from;
        for (int i = 0; i < count; i++) {
            at = name(octets, at, new StringBuilder());
            if (at < 0 || octets.length - at < 10) {
                return;
            }
            int type = u16(octets, at);
            int length = u16(octets, at + 8);
            at += 10;
            if (length > octets.length - at) {
                return;
            }
            var target = new StringBuilder();
            if (type == 1 && length == 4) {
                answers.add(IpAddress.v4(octets, at));
            } else if (type == 28 && length == 16) {
                answers.add(IpAddress.v6(octets, at));
            } else if (type == 5 && name(octets, at, target) >= 0) {
                answers.add(target.toString());
            }
            at += length;
        }
    }

    /// Reads a name at `at` into `name`; returns where it ends, or -1.
    private static int name(byte[] octets, int at, StringBuilder name) {
        int behind = -1;
        for (int jumps = 0; at < octets.length; ) {
            int length = octets[at] & 0xff;
            if (length == 0) {
                return behind < 0 ? at + 1 : behind;
            }
            if (length >= 0xc0) {
                if (at + 1 >= octets.length || ++jumps > JUMPS_MAX) {
                    return -1;
                }
                behind = behind < 0 ? at + 2 : behind;
                at = u16(octets, at) & 0x3fff;
                continue;
            }
            if (length > 63 || length >= octets.length - at || name.length() + length > NAME_OCTETS_MAX) {
                return -1;
            }
            name.append(name.isEmpty() ? "" : ".").append(label(octets, at + 1, length));
            at += 1 + length;
        }
        return -1;
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

    private static int u16(byte[] octets, int at) {
        return (octets[at] & 0xff) << 8 | octets[at + 1] & 0xff;
    }
}
