package blackbox.node.record;

import com.sun.net.httpserver.HttpExchange;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/// git's own server of its protocol over HTTP, as a CGI program.
///
/// @param repositories the folder in which they are
record GitBackend(Path repositories) {

    void answer(HttpExchange exchange) throws IOException {
        var builder = new ProcessBuilder("git", "http-backend").redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(variables(exchange));
        Process program = builder.start();
        try (OutputStream in = program.getOutputStream();
                InputStream body = exchange.getRequestBody()) {
            body.transferTo(in);
        }
        try (var out = new BufferedInputStream(program.getInputStream())) {
            int status = 200;
            for (String line = line(out); !line.isEmpty(); line = line(out)) {
                String value = line.substring(line.indexOf(':') + 1).strip();
                String name = line.substring(0, line.indexOf(':'));
                if (name.equals("Status")) {
                    status = Integer.parseInt(value.substring(0, 3));
                } else {
                    exchange.getResponseHeaders().add(name, value);
                }
            }
            exchange.sendResponseHeaders(status, 0);
            out.transferTo(exchange.getResponseBody());
        }
    }

    private Map<String, String> variables(HttpExchange exchange) {
        return Map.of(
                "GIT_PROJECT_ROOT", repositories.toString(),
                "GIT_HTTP_EXPORT_ALL", "1",
                "REQUEST_METHOD", exchange.getRequestMethod(),
                "PATH_INFO", exchange.getRequestURI().getPath(),
                "QUERY_STRING",
                        Objects.requireNonNullElse(exchange.getRequestURI().getRawQuery(), ""),
                "CONTENT_TYPE", field(exchange, "Content-Type"),
                "HTTP_CONTENT_ENCODING", field(exchange, "Content-Encoding"),
                "GIT_PROTOCOL", field(exchange, "Git-Protocol"));
    }

    private static String field(HttpExchange exchange, String name) {
        return Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst(name), "");
    }

    private static String line(InputStream in) throws IOException {
        var line = new StringBuilder();
        for (int octet = in.read(); octet >= 0 && octet != '\n'; octet = in.read()) {
            line.append((char) octet);
        }
        return line.toString().strip();
    }
}
