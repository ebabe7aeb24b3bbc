package blackbox.schemas.net;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The parts of a DNS message (RFC 1035) that say what was asked and what the answer was: the first question
/// and the A, AAAA and CNAME answers. Names are lower-cased; octets that are not printable ASCII are escaped
/// as `\ddd`.
///
/// @param isResponse whether it is an answer
/// @param type of the first question
/// @param onlyQuestionEnd where the question ends in a message that asks one standard question, without answers
///     and without compression; otherwise -1
public record DnsMessage(int id, boolean isResponse, String name, int type, List<String> answers, int onlyQuestionEnd) {

    private static final int A = 1;
    private static final int CNAME = 5;
    private static final int AAAA = 28;
    private static final int HEADER_BYTES = 12;
    private static final int QUESTION_BYTES_MIN = 5;
    private static final int ANSWERS_MAX = 64;

    public DnsMessage {
        answers = List.copyOf(answers);
    }

    /// Reads a message; null if it is not a message with a question.
    public static @Nullable DnsMessage parse(byte[] octets) {
        if (octets.length < HEADER_BYTES + QUESTION_BYTES_MIN || Octets.u16(octets, 4) == 0) {
            return null;
        }
        DnsName name = DnsName.read(octets, HEADER_BYTES);
        if (name == null || octets.length - name.end() < 4) {
            return null;
        }
        int end = name.end() + 4;
        boolean response = (octets[2] & 0x80) != 0;
        List<String> answers = response && Octets.u16(octets, 4) == 1
                ? answers(octets, end, Math.min(Octets.u16(octets, 6), ANSWERS_MAX))
                : List.of();
        boolean only = asksOnce(octets) && !name.isCompressed() && isAllOf(octets, end);
        return new DnsMessage(
                Octets.u16(octets, 0), response, name.text(), Octets.u16(octets, name.end()), answers, only ? end : -1);
    }

    /// Whether records of this type are addresses.
    public static boolean isAddress(long type) {
        return type == A || type == AAAA;
    }

    /// Whether it is a standard query of one question, with no answers and at most two additional records.
    private static boolean asksOnce(byte[] octets) {
        return (octets[2] & 0xf8) == 0
                && Octets.u16(octets, 4) == 1
                && Octets.u16(octets, 6) == 0
                && Octets.u16(octets, 8) == 0
                && Octets.u16(octets, 10) <= 2;
    }

    /// Whether nothing but additional records follows the question.
    private static boolean isAllOf(byte[] octets, int questionEnd) {
        return questionEnd == octets.length || Octets.u16(octets, 10) > 0;
    }

    private static List<String> answers(byte[] octets, int from, int count) {
        var answers = new ArrayList<String>();
        int at = from;
        for (int i = 0; i < count; i++) {
            DnsName owner = DnsName.read(octets, at);
            if (owner == null || octets.length - owner.end() < 10) {
                return answers;
            }
            int type = Octets.u16(octets, owner.end());
            int length = Octets.u16(octets, owner.end() + 8);
            at = owner.end() + 10;
            if (length > octets.length - at) {
                return answers;
            }
            if (type == A && length == 4) {
                answers.add(IpAddress.v4(octets, at));
            } else if (type == AAAA && length == 16) {
                answers.add(IpAddress.v6(octets, at));
            } else if (type == CNAME) {
                DnsName target = DnsName.read(octets, at);
                if (target != null) {
                    answers.add(target.text());
                }
            }
            at += length;
        }
        return answers;
    }
}
