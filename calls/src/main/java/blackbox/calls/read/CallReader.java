package blackbox.calls.read;

import blackbox.calls.Call;
import blackbox.calls.Headers;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads the calls of one HTTP exchange from the octets of its bodies, in whatever pieces they come: the result does
/// not depend on how they are divided. Bodies are given without the transfer coding, but with the content coding.
///
/// What it keeps has bounds, whatever the length of the bodies. It throws nothing for what they are. It must be closed:
/// decoders have memory outside of the heap. One thread at a time.
public final class CallReader implements AutoCloseable {
    private final Reading reading;
    private final BodyReader request;
    private @Nullable BodyReader response;
    private int status;
    private @Nullable List<Call> calls;

    CallReader(Reading reading, @Nullable String requestCoding) {
        this.reading = reading;
        request = new BodyReader("request", requestCoding, BodyReader.Format.JSON, reading.request(), reading.notes());
    }

    /// More of the request's body.
    public void request(byte[] octets, int from, int to) {
        if (calls == null) {
            request.feed(octets, from, to);
        }
    }

    /// The model that the request asks for, once all of its body was given; null if that could be read in another way,
    /// or it is no call of a model.
    public @Nullable String requestModel() {
        request.end();
        return request.isCertain() ? reading.requestModel() : null;
    }

    /// How many octets of the request's body there were so far, decoded.
    public long requestOctets() {
        return request.octets();
    }

    /// The head of a response. Informational ones (1xx) say nothing; of others only the first counts.
    public void responseHead(int statusCode, Headers headers) {
        if (statusCode >= 200 && response == null && calls == null) {
            status = statusCode;
            reading.head(statusCode, headers);
            response = new BodyReader(
                    "response",
                    headers.first("content-encoding"),
                    format(headers.first("content-type")),
                    reading.response(),
                    reading.notes());
        }
    }

    /// How many octets of the response's body there were so far, decoded: the measure of offsets.
    public long responseOctets() {
        return response == null ? 0 : response.octets();
    }

    /// More of the response's body.
    public void response(byte[] octets, int from, int to) {
        if (response != null && calls == null) {
            response.feed(octets, from, to);
        }
    }

    /// The exchange has ended, in whatever way. What came of it: one call of a model, any number of MCP's, or nothing
    /// if it turned out to be something else.
    public List<Call> finish() {
        if (calls == null) {
            request.end();
            if (response != null) {
                response.end();
            }
            calls = reading.calls(status, response == null ? 0 : response.octets());
        }
        return calls;
    }

    /// Frees what decoders hold. What was not finished by then has no calls.
    @Override
    public void close() {
        calls = calls == null ? List.of() : calls;
        request.close();
        if (response != null) {
            response.close();
        }
    }

    private BodyReader.Format format(@Nullable String contentType) {
        String type = Reading.mediaType(contentType);
        if (type == null) {
            return BodyReader.Format.UNSTATED;
        }
        return switch (type) {
            case "text/event-stream" -> BodyReader.Format.SERVER_SENT_EVENTS;
            case "application/vnd.amazon.eventstream" -> BodyReader.Format.AWS_EVENT_STREAM;
            default -> {
                if (type.contains("json")) {
                    yield BodyReader.Format.JSON;
                }
                reading.notes().add("response: its content type is neither JSON nor a stream of events");
                yield BodyReader.Format.UNKNOWN;
            }
        };
    }
}
