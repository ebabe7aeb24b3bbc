package blackbox.gateway.dns;

import blackbox.schemas.net.DnsMessage;
import blackbox.schemas.net.Octets;
import org.jspecify.annotations.Nullable;

/// A question to a name server (RFC 1035, RFC 6891). It is read by [DnsMessage], as the recorder reads it, so that both
/// see the same name.
///
/// @param message the whole of it
/// @param name of the question, as [DnsMessage] writes it: with escapes for what no host name has
/// @param type of the question
/// @param questionEnd where the question ends in the message
/// @param udpBytesMax how long an answer by UDP may be
/// @param edns whether it has an OPT record, so that an answer may have one
/// @param fault the response code if it is not answered otherwise, or 0
record DnsQuery(byte[] message, String name, int type, int questionEnd, int udpBytesMax, boolean edns, int fault) {
    static final int HEADER_BYTES = 12;
    static final int FORMAT_ERROR = 1;
    static final int SERVER_FAILURE = 2;
    static final int NAME_ERROR = 3;
    static final int NOT_IMPLEMENTED = 4;
    static final int REFUSED = 5;

    static final int A = 1;
    static final int SOA = 6;
    static final int PTR = 12;
    static final int MX = 15;
    static final int TXT = 16;
    static final int AAAA = 28;
    static final int SRV = 33;
    static final int OPT = 41;
    static final int SVCB = 64;
    static final int HTTPS = 65;

    static final int INTERNET = 1;

    private static final int UDP_BYTES_MIN = 512;
    /// What fits into every path's packets (the DNS flag day of 2020); the guest's is no exception.
    private static final int UDP_BYTES_MAX = 1_232;

    /// Reads a message; null if it is not to be answered at all: it is no question, but an answer, or has no header.
    static @Nullable DnsQuery parse(byte[] message) {
        if (message.length < HEADER_BYTES || (message[2] & 0x80) != 0) {
            return null;
        }
        if ((message[2] & 0x78) != 0) {
            return faulty(message, NOT_IMPLEMENTED);
        }
        DnsMessage read = DnsMessage.parse(message);
        if (read == null || read.onlyQuestionEnd() < 0) {
            return faulty(message, FORMAT_ERROR);
        }
        int end = read.onlyQuestionEnd();
        int options = optionsAt(message, end);
        if (options < 0) {
            return faulty(message, FORMAT_ERROR);
        }
        boolean edns = options > 0;
        int bytes = edns ? Math.clamp(Octets.u16(message, options + 3), UDP_BYTES_MIN, UDP_BYTES_MAX) : UDP_BYTES_MIN;
        int fault = Octets.u16(message, end - 2) == INTERNET ? 0 : REFUSED;
        return new DnsQuery(message, read.name(), read.type(), end, bytes, edns, fault);
    }

    private static DnsQuery faulty(byte[] message, int fault) {
        return new DnsQuery(message, "", 0, HEADER_BYTES, UDP_BYTES_MIN, false, fault);
    }

    /// Where the OPT record is among the additional ones, of which a question has two at most (the other is a
    /// signature);
    /// 0 if there is none, -1 if they contradict themselves.
    private static int optionsAt(byte[] message, int from) {
        int at = from;
        int found = 0;
        for (int left = Octets.u16(message, 10); left > 0; left--) {
            // The owner of an OPT record is the root. Others would have to be skipped, and nobody sends them.
            if (at + 11 > message.length || message[at] != 0) {
                return -1;
            }
            if (Octets.u16(message, at + 1) == OPT) {
                if (found > 0) {
                    return -1;
                }
                found = at;
            }
            at += 11 + Octets.u16(message, at + 9);
        }
        return at == message.length ? found : -1;
    }

    boolean asksAddress() {
        return type == A || type == AAAA || type == HTTPS || type == SVCB;
    }

    /// Its type, as rules and events name it.
    String typeText() {
        return switch (type) {
            case A -> "A";
            case PTR -> "PTR";
            case MX -> "MX";
            case TXT -> "TXT";
            case SRV -> "SRV";
            case AAAA -> "AAAA";
            case SVCB -> "SVCB";
            case HTTPS -> "HTTPS";
            default -> "TYPE" + type;
        };
    }
}
