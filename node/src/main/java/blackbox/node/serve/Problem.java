package blackbox.node.serve;

import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.MutableHttpResponse;

/// An error as problem+json (RFC 9457).
final class Problem {

    static final MediaType TYPE = MediaType.of("application/problem+json");

    private Problem() {}

    static MutableHttpResponse<byte[]> response(HttpStatus status, String detail) {
        return HttpResponse.<byte[]>status(status)
                .contentType(TYPE)
                .body(body(status.getCode(), status.getReason(), detail));
    }

    static byte[] body(int status, String title, String detail) {
        return ApiJson.document(out -> {
            out.writeStartObject();
            out.writeStringField("type", "about:blank");
            out.writeStringField("title", title);
            out.writeNumberField("status", status);
            out.writeStringField("detail", detail);
            out.writeEndObject();
        });
    }
}
