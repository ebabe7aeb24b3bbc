package blackbox.gateway.dns;

import blackbox.schemas.net.Octets;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/// Answers to a [DnsQuery], as messages.
final class DnsAnswer {
    /// How long an address may be kept. It never changes; but a run is to say when it used a name.
    static final int TTL_S = 60;

    private static final int BLOCKED = 15;
    private static final int NOT_SUPPORTED = 21;
    private static final int EXTENDED_ERROR = 15;
    private static final int TEXT_BYTES_MAX = 200;
    private static final int UDP_BYTES = 1_232;
    /// The name of the question, wherever it is needed again (RFC 1035 section 4.1.4).
    private static final int SAME_NAME = 0xc000 | DnsQuery.HEADER_BYTES;

    private DnsAnswer() {}

    /// The address that stands for the name.
    static byte[] address(DnsQuery query, byte[] address) {
        return message(query, 0, record(DnsQuery.A, address), 0, "");
    }

    /// The name that an address stands for.
    static byte[] pointer(DnsQuery query, String name) {
        var encoded = new ByteArrayOutputStream();
        for (String label : name.split("\\.")) {
            encoded.write(label.length());
            encoded.writeBytes(label.getBytes(StandardCharsets.US_ASCII));
        }
        encoded.write(0);
        return message(query, 0, record(DnsQuery.PTR, encoded.toByteArray()), 0, "");
    }

    /// The name has nothing of this type, and that may be kept in mind (RFC 2308).
    static byte[] nothing(DnsQuery query) {
        return message(query, 0, new byte[0], 0, "");
    }

    /// The same, because this type is not served.
    static byte[] unsupported(DnsQuery query, String why) {
        return message(query, 0, new byte[0], NOT_SUPPORTED, why);
    }

    /// There is no such name for this guest (RFC 8914: blocked).
    static byte[] denied(DnsQuery query, String why) {
        return message(query, DnsQuery.NAME_ERROR, new byte[0], BLOCKED, why);
    }

    /// An error, without more.
    static byte[] error(DnsQuery query, int code) {
        byte[] header = header(query, code, false);
        Octets.putU16(header, 4, 0);
        return header;
    }

    /// The question again, with the word that the answer is too long for UDP.
    static byte[] truncated(DnsQuery query) {
        var out = new ByteArrayOutputStream();
        byte[] header = header(query, 0, true);
        out.writeBytes(header);
        question(query, out);
        return out.toByteArray();
    }

    private static byte[] message(DnsQuery query, int code, byte[] answer, int extended, String text) {
        byte[] header = header(query, code, false);
        Octets.putU16(header, 6, answer.length > 0 ? 1 : 0);
        Octets.putU16(header, 8, answer.length > 0 ? 0 : 1);
        Octets.putU16(header, 10, query.edns() ? 1 : 0);
        var out = new ByteArrayOutputStream();
        out.writeBytes(header);
        question(query, out);
        out.writeBytes(answer.length > 0 ? answer : authority());
        if (query.edns()) {
            out.writeBytes(options(extended, text));
        }
        return out.toByteArray();
    }

    private static byte[] header(DnsQuery query, int code, boolean truncated) {
        byte[] asked = query.message();
        var header = new byte[DnsQuery.HEADER_BYTES];
        header[0] = asked[0];
        header[1] = asked[1];
        // An answer, to the same kind of question, with recursion if it was desired.
        header[2] = (byte) (0x80 | asked[2] & 0x79 | (truncated ? 2 : 0));
        header[3] = (byte) (0x80 | code);
        Octets.putU16(header, 4, 1);
        return header;
    }

    private static void question(DnsQuery query, ByteArrayOutputStream out) {
        out.write(query.message(), DnsQuery.HEADER_BYTES, query.questionEnd() - DnsQuery.HEADER_BYTES);
    }

    private static byte[] record(int type, byte[] data) {
        var record = new byte[12 + data.length];
        Octets.putU16(record, 0, SAME_NAME);
        Octets.putU16(record, 2, type);
        Octets.putU16(record, 4, DnsQuery.INTERNET);
        Octets.putU32(record, 6, TTL_S);
        Octets.putU16(record, 10, data.length);
        System.arraycopy(data, 0, record, 12, data.length);
        return record;
    }

    /// The start of authority of the root, which is above every name: without one, nobody remembers that there is
    /// nothing.
    private static byte[] authority() {
        var record = new byte[11 + 22];
        Octets.putU16(record, 1, DnsQuery.SOA);
        Octets.putU16(record, 3, DnsQuery.INTERNET);
        Octets.putU32(record, 5, TTL_S);
        Octets.putU16(record, 9, 22);
        // Primary and mailbox are the root, too; serial 1; refresh, retry, expire and minimum.
        for (int at : new int[] {17, 21, 25, 29}) {
            Octets.putU32(record, at, TTL_S);
        }
        Octets.putU32(record, 13, 1);
        return record;
    }

    private static byte[] options(int extended, String text) {
        byte[] words = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(words.length, TEXT_BYTES_MAX);
        while (length < words.length && length > 0 && (words[length] & 0xc0) == 0x80) {
            length--; // no half character
        }
        var record = new byte[11 + (extended == 0 ? 0 : 6 + length)];
        Octets.putU16(record, 1, DnsQuery.OPT);
        Octets.putU16(record, 3, UDP_BYTES);
        if (extended != 0) {
            Octets.putU16(record, 9, 6 + length);
            Octets.putU16(record, 11, EXTENDED_ERROR);
            Octets.putU16(record, 13, 2 + length);
            Octets.putU16(record, 15, extended);
            System.arraycopy(words, 0, record, 17, length);
        }
        return record;
    }
}
