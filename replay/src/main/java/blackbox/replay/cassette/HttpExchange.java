package blackbox.replay.cassette;

import blackbox.replay.cassette.HttpReader.Body;
import blackbox.replay.cassette.HttpReader.Head;
import blackbox.replay.cassette.HttpReader.NoMessage;
import blackbox.schemas.Sha256;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A request and its answer, of those that a recorded HTTP/1.1 connection carried one after the other. Its meaning does
/// not depend on the connection (RFC 9110 section 3.3), so that another one can carry it as well. Immutable.
///
/// @param start the first octets of the request, which most often tell it from others; its position never moves
/// @param number its place on the connection, from 0
/// @param isSafe whether its method is one that changes nothing (RFC 9110 section 9.2.1)
/// @param isLast whether the connection carried no other after it
/// @param isWhole whether the whole answer was recorded
/// @param began number of the frame with which the request began
/// @param ended the same of the one with which its answer ended, as far as it was recorded
record HttpExchange(
        RecordedConnection connection,
        int number,
        StreamSlice request,
        ByteBuffer start,
        boolean isSafe,
        StreamSlice answer,
        boolean isLast,
        boolean isWhole,
        long began,
        long ended) {
    private static final int EXCHANGES_MAX = 1 << 16;
    private static final int START_BYTES = 256;
    private static final Set<String> SAFE = Set.of("GET", "HEAD", "OPTIONS", "TRACE");
    private static final Pattern REQUEST = Pattern.compile("([!-~]+) [!-~]+ HTTP/1\\.[01]");
    private static final Pattern STATUS = Pattern.compile("HTTP/1\\.[01] ([1-5][0-9][0-9])( .*)?");
    /// How a client proves who it is for as long as the connection lasts.
    private static final List<String> OF_CONNECTIONS = List.of("ntlm", "negotiate");

    /// As [StreamSlice#mismatch] of the request.
    int mismatch(long at, byte[] octets) {
        int same = 0;
        if (at < start.capacity()) {
            int count = (int) Math.min(octets.length, start.capacity() - at);
            int differs = start.slice((int) at, count).mismatch(ByteBuffer.wrap(octets, 0, count));
            if (differs >= 0) {
                return differs;
            }
            same = count;
        }
        return same == octets.length
                ? same
                : same + request.mismatch(at + same, Arrays.copyOfRange(octets, same, octets.length));
    }

    /// Number of the frame that brought the answer's first octet; the answer is not empty.
    long answerBegan() {
        return answer.stream().frameOf(answer.from());
    }

    /// Where the answer's last segment begins; 0 if it is the only one, or there is no answer.
    long lastSegment() {
        if (answer.length() == 0) {
            return 0;
        }
        long last = answer.stream().segmentOf(answer.from() + answer.length() - 1);
        return Math.max(0, last - answer.from());
    }

    /// The SHA-256 digest of the request.
    ByteBuffer digest() {
        MessageDigest digest = Sha256.digest();
        request.digest(digest);
        return ByteBuffer.wrap(digest.digest());
    }

    /// How much of the request has to be sent before anything is answered, or all of it.
    long needsFirst() {
        return Math.min(
                request.length(),
                answer.length() == 0 ? request.length() : connection.needs(answer.from()) - request.from());
    }

    /// How many octets of the answer may be sent to a guest that has sent `received` octets of the request, and one for
    /// the end of its stream.
    long released(long received) {
        long all = connection.released(request.from() + received) - answer.from();
        return Math.clamp(all, 0, answer.length());
    }

    /// Those that a connection carried, in order; null if they cannot be told apart: it is not plain HTTP/1.1,
    /// the remote side spoke first, a request is not whole or came before the answer to the one before it had
    /// ended, or who asks was settled for the whole connection.
    static @Nullable List<HttpExchange> of(RecordedConnection connection) {
        var requests = new HttpReader(connection.request());
        var answers = new HttpReader(connection.response());
        var all = new ArrayList<HttpExchange>();
        try {
            while (!requests.isAtEnd()) {
                HttpExchange next = next(connection, all.size(), requests, answers);
                boolean follows = all.isEmpty()
                        || all.getLast().isWhole() && all.getLast().ended() < next.began();
                if (!follows || all.size() == EXCHANGES_MAX || !next.isApart()) {
                    return null;
                }
                all.add(next);
            }
        } catch (NoMessage e) {
            return null;
        }
        return answers.isAtEnd() ? all : null;
    }

    private static HttpExchange next(RecordedConnection connection, int number, HttpReader requests, HttpReader answers)
            throws NoMessage {
        long from = requests.at();
        Head head = requests.head();
        var first = REQUEST.matcher(head.first());
        if (!first.matches() || first.group(1).equals("CONNECT") || isOfConnection(head)) {
            throw new NoMessage(false);
        }
        Body body = HttpReader.body(head);
        if (body != null) {
            requests.pass(body);
        }
        var request = new StreamSlice(connection.request(), from, requests.at() - from);
        long answerFrom = answers.at();
        boolean whole = isWhole(connection, first.group(1), answers);
        long answerTo = whole ? answers.at() : connection.response().length();
        var answer = new StreamSlice(connection.response(), answerFrom, answerTo - answerFrom);
        long began = request.stream().frameOf(request.from());
        return new HttpExchange(
                connection,
                number,
                request,
                start(request),
                SAFE.contains(first.group(1)),
                answer,
                requests.isAtEnd(),
                whole,
                began,
                answer.length() == 0 ? began : answer.stream().frameOf(answerTo - 1));
    }

    /// However the segments were cut.
    private static ByteBuffer start(StreamSlice request) {
        var start = ByteBuffer.allocate((int) Math.min(START_BYTES, request.length()));
        while (start.hasRemaining()) {
            start.put(request.read(start.position(), start.remaining()));
        }
        return start.flip().asReadOnlyBuffer();
    }

    /// Steps over an answer.
    private static boolean isWhole(RecordedConnection connection, String method, HttpReader answers) throws NoMessage {
        try {
            Head head = answers.head();
            String status = status(head);
            while (status.startsWith("1")) {
                head = answers.head();
                status = status(head);
            }
            if (method.equals("HEAD") || status.equals("204") || status.equals("304")) {
                return true;
            }
            Body body = HttpReader.body(head);
            answers.pass(body == null ? new Body.UntilEnd() : body);
            return body != null || connection.isFinished();
        } catch (NoMessage e) {
            if (e.isCut()) {
                answers.pass(new Body.UntilEnd());
                return false;
            }
            throw e;
        }
    }

    private static String status(Head head) throws NoMessage {
        var first = STATUS.matcher(head.first());
        if (!first.matches() || first.group(1).equals("101") || isOfConnection(head)) {
            throw new NoMessage(false);
        }
        return first.group(1);
    }

    private static boolean isOfConnection(Head head) {
        return head.fields().stream()
                .filter(field ->
                        field.name().endsWith("authorization") || field.name().endsWith("-authenticate"))
                .map(field -> field.value().toLowerCase(Locale.ROOT))
                .anyMatch(value -> OF_CONNECTIONS.stream().anyMatch(value::contains));
    }

    /// Whether its answer came after the request had begun, and before the next one did.
    private boolean isApart() {
        if (answer.length() == 0) {
            return isLast;
        }
        long end = request.from() + request.length() + (isLast ? 1 : 0);
        // Whoever answers may acknowledge octets that are still to come, so where they are says it not alone.
        return answerBegan() >= began
                && connection.needs(answer.from()) > request.from()
                && connection.needs(answer.from() + answer.length() - 1) <= end;
    }
}
