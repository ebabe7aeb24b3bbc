package blackbox.gateway.http;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;

/// Whether the first octets of a connection are HTTP.
public enum HttpLook {
    /// They are, or want to be taken for it.
    HTTP,
    /// They may be the beginning of a known method.
    MORE,
    /// They may be the beginning of an unknown method, or of a line with one: it depends on the rest of the line.
    PERHAPS,
    OTHER;

    /// Those that are registered and in use (IANA's registry of methods), and the preface of HTTP/2.
    private static final Set<String> METHODS = Set.of(
            "ACL",
            "BIND",
            "CHECKOUT",
            "CONNECT",
            "COPY",
            "DELETE",
            "GET",
            "HEAD",
            "LINK",
            "LOCK",
            "MERGE",
            "MKACTIVITY",
            "MKCALENDAR",
            "MKCOL",
            "MOVE",
            "OPTIONS",
            "ORDERPATCH",
            "PATCH",
            "POST",
            "PRI",
            "PROPFIND",
            "PROPPATCH",
            "PUT",
            "QUERY",
            "REBIND",
            "REPORT",
            "SEARCH",
            "TRACE",
            "UNBIND",
            "UNLINK",
            "UNLOCK",
            "UPDATE",
            "VERSION-CONTROL");

    /// Looks at the readable octets, and leaves them where they are.
    public static HttpLook at(ByteBuf octets) {
        int length = Math.min(octets.readableBytes(), HttpReader.START_BYTES_MAX + 1);
        String text = octets.toString(octets.readerIndex(), length, StandardCharsets.ISO_8859_1);
        if (text.isEmpty()) {
            return MORE;
        }
        if (text.startsWith("\r") || text.startsWith("\n")) {
            return HTTP; // a lenient server would skip it
        }
        int end = 0;
        while (end < length && HttpReader.isTokenChar(text.charAt(end))) {
            end++;
        }
        String word = text.substring(0, end).toUpperCase(Locale.ROOT);
        if (end == length) {
            return METHODS.stream().anyMatch(method -> method.startsWith(word)) ? MORE : unfinished(text);
        }
        boolean spaced = end > 0 && (text.charAt(end) == ' ' || text.charAt(end) == '\t');
        if (!spaced) {
            return OTHER;
        }
        return METHODS.contains(word) ? HTTP : line(text);
    }

    private static HttpLook line(String text) {
        int end = text.indexOf('\n');
        String line = end < 0 ? text : text.substring(0, end);
        if (line.toUpperCase(Locale.ROOT).contains("HTTP/")) {
            return HTTP;
        }
        boolean shown = line.chars().allMatch(c -> c >= ' ' || c == '\t' || c == '\r');
        if (end >= 0 || !shown) {
            return OTHER;
        }
        return unfinished(text);
    }

    private static HttpLook unfinished(String text) {
        return text.length() > HttpReader.START_BYTES_MAX ? HTTP : PERHAPS;
    }
}
