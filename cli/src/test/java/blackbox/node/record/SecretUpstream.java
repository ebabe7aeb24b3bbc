package blackbox.node.record;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.GZIPOutputStream;

/// What a server says again of a credential that it was given, in its answers and its complaints.
final class SecretUpstream {

    /// How it may do that. All are with a status of 200, but for errors and redirects.
    static final List<String> WAYS = List.of(
            "raw",
            "error",
            "json",
            "jsonInUrl",
            "hex",
            "HEX",
            "url",
            "urlTwice",
            "html",
            "escapes",
            "utf16",
            "base64/0",
            "base64/1",
            "base64/2",
            "base64url/1",
            "base64Twice",
            "lines",
            "pieces",
            "header",
            "gzip",
            "redirect");

    private SecretUpstream() {}

    /// Answers.
    ///
    /// @param heard what it was given
    static void answer(HttpExchange exchange, String way, String heard) throws IOException {
        exchange.getResponseHeaders().set("X-Heard", heard);
        switch (way) {
            case "error" ->
                send(exchange, 401, bytes("{\"error\":{\"message\":\"invalid x-api-key: " + heard + "\"}}"));
            case "gzip" -> {
                exchange.getResponseHeaders().set("Content-Encoding", "gzip");
                exchange.sendResponseHeaders(200, 0);
                try (var out = new GZIPOutputStream(exchange.getResponseBody())) {
                    out.write(bytes(heard));
                }
            }
            case "redirect" -> {
                exchange.getResponseHeaders().set("Location", "https://other.example/?key=" + url(heard));
                send(exchange, 302, new byte[0]);
            }
            case "pieces" -> {
                exchange.sendResponseHeaders(200, 0);
                for (byte octet : bytes("data: " + heard + "\n\n")) {
                    exchange.getResponseBody().write(octet);
                    exchange.getResponseBody().flush();
                }
            }
            default -> send(exchange, 200, said(way, heard));
        }
    }

    private static byte[] said(String way, String heard) {
        return switch (way) {
            case "json" -> bytes("{\"key\":\"" + heard.replace("/", "\\/") + "\"}");
            case "jsonInUrl" -> bytes("?state=" + url("{\"key\":\"" + heard.replace("/", "\\/") + "\"}"));
            case "hex" -> bytes(HexFormat.of().formatHex(bytes(heard)));
            case "HEX" -> bytes(HexFormat.of().withUpperCase().formatHex(bytes(heard)));
            case "url" -> bytes("key=" + url(heard) + "&x=1");
            case "urlTwice" -> bytes("to=" + url("https://other.example/?key=" + url(heard)));
            case "html" -> bytes("<p>" + each(heard, "&#%d;") + "</p>");
            case "escapes" -> bytes("\"" + each(heard, "\\u%04x") + "\"");
            case "utf16" -> heard.getBytes(StandardCharsets.UTF_16LE);
            case "base64/0", "base64/1", "base64/2" ->
                bytes(base64("~".repeat(way.charAt(way.length() - 1) - '0') + heard + "; and more"));
            case "base64url/1" -> bytes(base64("?" + heard).replace('+', '-').replace('/', '_'));
            case "base64Twice" -> bytes(base64("{\"auth\":\"" + base64("user:" + heard) + "\"}"));
            case "lines" -> bytes("key: |\n  " + base64("u:" + heard).replaceAll("(.{16})", "$1\n  "));
            default -> bytes("you said " + heard);
        };
    }

    private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    static String url(String text) {
        return URLEncoder.encode(text, StandardCharsets.US_ASCII);
    }

    static String base64(String text) {
        return Base64.getEncoder().encodeToString(bytes(text));
    }

    private static String each(String text, String format) {
        var out = new StringBuilder();
        text.chars().forEach(c -> out.append(format.formatted(c)));
        return out.toString();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
