package blackbox.calls.read;

import blackbox.calls.Call;
import blackbox.calls.Headers;
import com.github.luben.zstd.Zstd;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;

/// An HTTP exchange out of a test's resources, and how a reader takes it.
record Exchange(
        String method,
        String path,
        Map<String, String> requestHeaders,
        byte[] request,
        int status,
        Map<String, String> responseHeaders,
        byte[] response) {
    static final List<String> NAMES = List.of(
            "anthropic-error-event",
            "anthropic-json",
            "anthropic-overloaded",
            "anthropic-stream",
            "bedrock-converse",
            "bedrock-converse-stream",
            "bedrock-exception",
            "bedrock-invoke",
            "bedrock-invoke-stream",
            "bedrock-refused",
            "google-array",
            "google-exhausted",
            "google-json",
            "google-stream",
            "mcp-batch",
            "mcp-json",
            "mcp-stream",
            "ollama-chat",
            "ollama-error",
            "ollama-generate",
            "openai-chat-json",
            "openai-chat-stream",
            "openai-rate-limit",
            "openai-responses-json",
            "openai-responses-stream");

    static Exchange named(String name) {
        String[] halves = resource(name).split("=====\n", 2);
        String[] request = halves[0].split("\n\n", 2);
        String[] response = halves[1].split("\n\n", 2);
        String[] line = request[0].lines().findFirst().orElseThrow().split(" ");
        Map<String, String> responseHeaders = headers(response[0]);
        boolean frames = "application/vnd.amazon.eventstream".equals(responseHeaders.get("content-type"));
        return new Exchange(
                line[0],
                line[1],
                headers(request[0]),
                utf8(request[1]),
                Integer.parseInt(response[0].lines().findFirst().orElseThrow()),
                responseHeaders,
                frames ? frames(response[1]) : utf8(response[1]));
    }

    /// An exchange made up for one test.
    static Exchange of(String path, String request, String responseType, byte[] response) {
        return new Exchange(
                "POST",
                path,
                Map.of("content-type", "application/json"),
                utf8(request),
                200,
                Map.of("content-type", responseType),
                response);
    }

    Exchange withResponse(byte[] other) {
        return new Exchange(method, path, requestHeaders, request, status, responseHeaders, other);
    }

    Exchange encoded(String coding) {
        return new Exchange(
                method,
                path,
                with(requestHeaders, coding),
                encode(coding, request),
                status,
                with(responseHeaders, coding),
                encode(coding, response));
    }

    /// The calls, when each body comes in pieces of this many octets.
    List<Call> read(int pieceBytes) {
        try (CallReader reader = reader()) {
            pieces(request, pieceBytes, reader::request);
            head(reader);
            pieces(response, pieceBytes, reader::response);
            return reader.finish();
        }
    }

    List<Call> read() {
        return read(Integer.MAX_VALUE);
    }

    /// The calls, when each body comes in two pieces, the first with so many octets.
    List<Call> readCutAt(int requestCut, int responseCut) {
        try (CallReader reader = reader()) {
            reader.request(request, 0, requestCut);
            reader.request(request, requestCut, request.length);
            head(reader);
            reader.response(response, 0, responseCut);
            reader.response(response, responseCut, response.length);
            return reader.finish();
        }
    }

    CallReader reader() {
        CallReader reader = CallRecognizer.of(method, path, of(requestHeaders));
        if (reader == null) {
            throw new AssertionError("there is no reader for " + path);
        }
        return reader;
    }

    void head(CallReader reader) {
        reader.responseHead(100, name -> null);
        reader.responseHead(status, of(responseHeaders));
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Headers of(Map<String, String> headers) {
        return headers::get;
    }

    private static void pieces(byte[] body, int pieceBytes, blackbox.calls.wire.Octets target) {
        for (int at = 0; at < body.length; at += Math.min(pieceBytes, body.length - at)) {
            target.take(body, at, at + Math.min(pieceBytes, body.length - at));
        }
    }

    private static Map<String, String> with(Map<String, String> headers, String coding) {
        var more = new TreeMap<>(headers);
        more.put("content-encoding", coding);
        return more;
    }

    private static Map<String, String> headers(String head) {
        var headers = new TreeMap<String, String>();
        head.lines().skip(1).map(line -> line.split(": ", 2)).forEach(field -> headers.put(field[0], field[1]));
        return headers;
    }

    static byte[] encode(String coding, byte[] body) {
        return switch (coding) {
            case "gzip" -> gzip(body);
            case "zstd" -> Zstd.compress(body);
            default -> throw new IllegalArgumentException(coding);
        };
    }

    private static byte[] gzip(byte[] body) {
        var octets = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(octets)) {
            gzip.write(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return octets.toByteArray();
    }

    private static byte[] frames(String lines) {
        var octets = new ByteArrayOutputStream();
        lines.lines().forEach(line -> {
            String[] parts = line.split(" ", 2);
            String type = parts[0];
            byte[] payload = utf8(parts[1]);
            if (type.startsWith("!")) {
                octets.writeBytes(
                        frame(Map.of(":message-type", "exception", ":exception-type", type.substring(1)), payload));
            } else {
                byte[] wrapped = type.equals("chunk")
                        ? utf8("{\"bytes\":\"" + Base64.getEncoder().encodeToString(payload) + "\",\"p\":\"ab\"}")
                        : payload;
                octets.writeBytes(frame(Map.of(":message-type", "event", ":event-type", type), wrapped));
            }
        });
        return octets.toByteArray();
    }

    /// A message of an AWS event stream.
    static byte[] frame(Map<String, String> headers, byte[] payload) {
        var names = new ByteArrayOutputStream();
        headers.forEach((name, value) -> {
            names.write(name.length());
            names.writeBytes(utf8(name));
            names.write(7);
            names.write(utf8(value).length >> 8);
            names.write(utf8(value).length);
            names.writeBytes(utf8(value));
        });
        ByteBuffer frame = ByteBuffer.allocate(16 + names.size() + payload.length);
        frame.putInt(frame.capacity()).putInt(names.size());
        frame.putInt(crc(frame));
        frame.put(names.toByteArray()).put(payload);
        frame.putInt(crc(frame));
        return frame.array();
    }

    private static int crc(ByteBuffer frame) {
        var crc = new CRC32();
        crc.update(frame.array(), 0, frame.position());
        return (int) crc.getValue();
    }

    private static String resource(String name) {
        try (InputStream file = Exchange.class.getResourceAsStream("/blackbox/calls/exchanges/" + name + ".http")) {
            return new String(java.util.Objects.requireNonNull(file, name).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
