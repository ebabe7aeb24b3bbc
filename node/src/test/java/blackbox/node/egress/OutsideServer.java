package blackbox.node.egress;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.Locale;

/// What the outside says to those who come.
///
/// @param greets said before anything was asked
/// @param answers to one request after the other, the last to all that follow; `websocket` opens one and echoes, `echo`
///     returns octets from the first on, `reset` breaks the connection off after what stands before it
record OutsideServer(String greets, List<String> answers) {
    private static final String OK = "HTTP/1.1 200 OK|Content-Length: 2||ok";
    private static final String WEB_SOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

    OutsideServer {
        answers = answers.isEmpty() ? List.of(OK) : List.copyOf(answers);
    }

    byte[] greeting() {
        return Outside.octets(lines(greets));
    }

    /// Serves a connection to its end.
    ///
    /// @param said on which it talks, with TLS or without
    /// @param socket below it
    void serve(Socket said, Socket socket, Outside.Arrival arrival) throws IOException {
        InputStream in = said.getInputStream();
        OutputStream out = said.getOutputStream();
        var got = new StringBuilder(arrival.got()); // what it begins with may have been read
        var octets = new byte[16 << 10];
        int at = 0;
        int answered = 0;
        boolean echoes = answers.getFirst().equals("echo");
        if (echoes) {
            out.write(Outside.octets(got.toString()));
        }
        for (int count = in.read(octets); count >= 0; count = in.read(octets)) {
            String more = new String(octets, 0, count, StandardCharsets.ISO_8859_1);
            arrival.add(more);
            got.append(more);
            if (echoes) {
                out.write(octets, 0, count);
                continue;
            }
            for (int end = end(got, at); end > 0 && !echoes; end = end(got, at)) {
                String answer = answers.get(Math.min(answered++, answers.size() - 1));
                String request = got.substring(at, end);
                at = end;
                echoes = answer.equals("websocket");
                answer(answer, request, said, socket);
                if (echoes) {
                    out.write(Outside.octets(got.substring(at)));
                }
            }
        }
    }

    private static void answer(String answer, String request, Socket said, Socket socket) throws IOException {
        OutputStream out = said.getOutputStream();
        if (answer.equals("websocket")) {
            String key = value(request, "sec-websocket-key");
            out.write(Outside.octets("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Accept: " + accept(key) + "\r\n\r\n"));
            return;
        }
        boolean breaks = answer.endsWith("reset");
        out.write(Outside.octets(lines(breaks ? answer.substring(0, answer.length() - "reset".length()) : answer)));
        out.flush();
        if (breaks) {
            socket.setSoLinger(true, 0);
            socket.close();
        } else if (answer.contains("Connection: close")) {
            said.shutdownOutput();
        }
    }

    /// Where the request ends that begins at `from`; 0 if it is not whole. It has the one form in which a gateway
    /// writes.
    private static int end(StringBuilder all, int from) {
        int head = all.indexOf("\r\n\r\n", from);
        if (head < 0) {
            return 0;
        }
        int body = head + 4;
        String fields = all.substring(from, body);
        if (value(fields, "transfer-encoding").equals("chunked")) {
            return chunksEnd(all, body);
        }
        String length = value(fields, "content-length");
        int end = body + (length.isEmpty() ? 0 : Integer.parseInt(length));
        return end <= all.length() ? end : 0;
    }

    private static int chunksEnd(StringBuilder all, int from) {
        int at = from;
        for (int line = all.indexOf("\r\n", at); line >= 0; line = all.indexOf("\r\n", at)) {
            int size = Integer.parseInt(all.substring(at, line), 16);
            if (size == 0) {
                int end = all.indexOf("\r\n\r\n", line);
                return end < 0 ? 0 : end + 4;
            }
            at = line + 2 + size + 2;
            if (at > all.length()) {
                return 0;
            }
        }
        return 0;
    }

    private static String value(String head, String field) {
        for (String line : head.split("\r\n")) {
            if (line.toLowerCase(Locale.ROOT).startsWith(field + ": ")) {
                return line.substring(field.length() + 2);
            }
        }
        return "";
    }

    private static String accept(String key) {
        try {
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("SHA-1").digest(Outside.octets(key + WEB_SOCKET)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /// A text of the table, in which `|` stands for the end of a line.
    static String lines(String text) {
        return text.replace("|", "\r\n");
    }

    /// The other way round.
    static String shown(String text) {
        return text.replace("\r\n", "|");
    }
}
