package blackbox.gateway.http;

import blackbox.gateway.egress.HttpField;
import blackbox.gateway.http.Framing.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// Writes messages in one form, whatever the form was in which they came.
final class HttpWriter {
    private static final String END = "\r\n";
    private static final Set<String> CODINGS = Set.of("gzip", "x-gzip", "zstd");
    static final Set<String> NOT_PASSED_ON = Set.of("alt-svc");

    private static final int NO_CONTENT = 204;

    private final StringBuilder text = new StringBuilder(512);

    private HttpWriter() {}

    /// A request's head as it is forwarded. It may have secrets in it: whoever sends it clears it then.
    ///
    /// @param framing of the body that follows
    static byte[] request(Outgoing outgoing, String authority, Framing framing) {
        GuestRequest request = outgoing.request();
        var out = new HttpWriter();
        out.text
                .append(request.judged().method())
                .append(' ')
                .append(outgoing.head().target())
                .append(" HTTP/1.1")
                .append(END);
        out.field("Host", authority);
        out.fields(outgoing.fields());
        out.field("Accept-Encoding", acceptEncoding(outgoing));
        boolean trailers = request.fields().tokens("te").contains("trailers");
        if (trailers) {
            out.field("TE", "trailers");
        }
        if (request.judged().webSocket()) {
            out.field("Connection", "Upgrade");
            out.field("Upgrade", "websocket");
        } else if (trailers) {
            out.field("Connection", "TE");
        }
        out.framing(framing);
        return outgoing.head().octets(out.text.append(END));
    }

    /// Of what is accepted, what can be looked into.
    static String acceptEncoding(Outgoing outgoing) {
        if (outgoing.readable()) {
            return "identity";
        }
        Fields fields = outgoing.request().fields();
        var kept = new ArrayList<String>();
        for (String member : fields.members("accept-encoding")) {
            int end = member.indexOf(';');
            String coding = (end < 0 ? member : member.substring(0, end)).strip();
            if (CODINGS.contains(coding.toLowerCase(Locale.ROOT))) {
                kept.add(member);
            }
        }
        return kept.isEmpty() ? "identity" : String.join(", ", kept);
    }

    /// An answer as it is passed on.
    ///
    /// @param framing towards the guest
    /// @param last whether the connection to the guest ends with it
    static ByteBuf answer(ByteBufAllocator allocator, UpstreamAnswer answer, Framing framing, boolean last) {
        var out = new HttpWriter();
        out.statusLine(answer.status(), answer.reason());
        out.fields(answer.fields().endToEnd(NOT_PASSED_ON));
        if (answer.switches()) {
            out.field("Connection", "Upgrade");
            out.field("Upgrade", "websocket");
        } else if (!answer.isInterim()) {
            out.framing(framing);
            // Of HEAD and 304: what the body would have had.
            if (framing.is(Kind.NONE) && answer.status() != NO_CONTENT) {
                answer.fields().values("content-length").forEach(length -> out.field("Content-Length", length));
            }
            if (last) {
                out.field("Connection", "close");
            }
        }
        return out.done(allocator);
    }

    /// An answer of the gateway's own, after which the connection ends.
    static ByteBuf own(ByteBufAllocator allocator, int status, String json, boolean withBody) {
        var out = new HttpWriter();
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        out.statusLine(status, reason(status));
        out.field("Content-Type", "application/json");
        out.field("Cache-Control", "no-store");
        out.framing(new Framing(Kind.LENGTH, body.length));
        out.field("Connection", "close");
        ByteBuf head = out.done(allocator);
        return withBody ? head.writeBytes(body) : head;
    }

    static ByteBuf goOn() {
        return Unpooled.copiedBuffer("HTTP/1.1 100 Continue\r\n\r\n", StandardCharsets.US_ASCII);
    }

    /// A piece of a body in chunks; takes ownership of it.
    static ByteBuf chunk(ByteBufAllocator allocator, ByteBuf data) {
        String size = Integer.toHexString(data.readableBytes()) + END;
        return allocator
                .compositeBuffer(3)
                .addComponent(true, ByteBufUtil.writeAscii(allocator, size))
                .addComponent(true, data)
                .addComponent(true, ByteBufUtil.writeAscii(allocator, END));
    }

    static ByteBuf lastChunk(ByteBufAllocator allocator, Fields trailer) {
        var out = new HttpWriter();
        out.text.append('0').append(END);
        out.fields(trailer.trailing());
        return out.done(allocator);
    }

    private static String reason(int status) {
        return switch (status) {
            case HttpFault.BAD_REQUEST -> "Bad Request";
            case HttpFault.FIELDS_TOO_LARGE -> "Request Header Fields Too Large";
            case HttpFault.TARGET_TOO_LONG -> "URI Too Long";
            case HttpFault.EXPECTATION_FAILED -> "Expectation Failed";
            case HttpFault.VERSION_NOT_SUPPORTED -> "HTTP Version Not Supported";
            case 403 -> "Forbidden";
            case 408 -> "Request Timeout";
            case 421 -> "Misdirected Request";
            case 429 -> "Too Many Requests";
            case 502 -> "Bad Gateway";
            default -> "Refused";
        };
    }

    private void statusLine(int status, String reason) {
        text.append("HTTP/1.1 ").append(status).append(' ').append(reason).append(END);
    }

    private void fields(Fields fields) {
        List<HttpField> all = fields.all();
        all.forEach(field -> field(field.name(), field.value()));
    }

    private void field(String name, String value) {
        text.append(name).append(": ").append(value).append(END);
    }

    private void framing(Framing framing) {
        switch (framing.kind()) {
            case LENGTH -> field("Content-Length", Long.toString(framing.length()));
            case CHUNKED -> field("Transfer-Encoding", "chunked");
            case NONE, UNTIL_CLOSE -> {}
        }
    }

    private ByteBuf done(ByteBufAllocator allocator) {
        text.append(END);
        return allocator.buffer(text.length()).writeBytes(text.toString().getBytes(StandardCharsets.ISO_8859_1));
    }
}
