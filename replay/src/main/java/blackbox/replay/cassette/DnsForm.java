package blackbox.replay.cassette;

import blackbox.replay.cassette.RecordedExchange.Name;
import blackbox.replay.cassette.RecordedExchange.Question;
import blackbox.schemas.Hash;
import blackbox.schemas.net.DnsMessage;
import blackbox.schemas.net.Octets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The part of DNS (RFC 1035) that is needed to answer from a recording: the form of a question, its id, and
/// an answer that reports failure.
final class DnsForm {
    private static final int SERVFAIL = 2;
    private static final int OPT = 41;
    private static final int OPT_BYTES = 11;

    private DnsForm() {}

    /// A datagram as something to look up.
    static Question question(byte[] payload) {
        DnsMessage message = DnsMessage.parse(payload);
        int end = message == null ? -1 : message.onlyQuestionEnd();
        return new Question(
                Hash.sha256(end < 0 ? payload : withId(payload, 0)),
                payload.length,
                end >= 0,
                message != null && DnsMessage.isAddress(message.type()) && isAllAsked(payload, end)
                        ? new Name(message.name(), message.type())
                        : null);
    }

    /// Whether nothing follows the question but the record without data that says what the asker understands
    /// (RFC 6891, section 6.1).
    private static boolean isAllAsked(byte[] payload, int end) {
        int additional = Octets.u16(payload, 10);
        return end == payload.length && additional == 0
                || end >= 0
                        && additional == 1
                        && payload.length == end + OPT_BYTES
                        && payload[end] == 0
                        && Octets.u16(payload, end + 1) == OPT
                        && Octets.u16(payload, end + 9) == 0;
    }

    /// Whether a datagram is a DNS answer that repeats its question.
    static boolean isAnswer(byte[] datagram) {
        DnsMessage message = DnsMessage.parse(datagram);
        return message != null && message.isResponse();
    }

    static int id(byte[] message) {
        return Octets.u16(message, 0);
    }

    static byte[] withId(byte[] message, int id) {
        byte[] changed = message.clone();
        Octets.putU16(changed, 0, id);
        return changed;
    }

    /// An answer with the code SERVFAIL, or null when `message` is not a question.
    static byte @Nullable [] failure(byte[] message) {
        int end = questionEnd(message);
        if (end < 0) {
            return null;
        }
        byte[] answer = Arrays.copyOf(message, end);
        answer[2] = (byte) (message[2] | 0x80);
        answer[3] = (byte) (0x80 | SERVFAIL);
        Octets.putU16(answer, 10, 0); // what followed the question is cut off
        return answer;
    }

    /// Where the only question of a message ends; -1 if it is not a message with one question and no answers.
    private static int questionEnd(byte[] payload) {
        DnsMessage message = DnsMessage.parse(payload);
        return message == null ? -1 : message.onlyQuestionEnd();
    }
}
