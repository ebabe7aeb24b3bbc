package blackbox.query.otlp;

import blackbox.query.otlp.Attributes.Value;
import blackbox.schemas.Release;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// OTLP in JSON, as the OpenTelemetry protocol's specification and that of its file exporter have it: a `TracesData`
/// (which is an `ExportTraceServiceRequest`, too) a line, ids in hex, enums as numbers, 64-bit numbers as strings.
/// A line has at most so many spans that receivers, which take 20 MiB at once, take it.
final class OtlpJson {

    /// The conventions that names and values follow: the last release that has those of GenAI and MCP together with
    /// all others.
    static final String SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0";

    /// With at most six octets a character as it is written, and the resource, a line is below 1 MiB: consumers read no
    /// longer ones unless they are told to.
    private static final long LINE_CHARS_MAX = 128 << 10;
    private static final int LINE_SPANS_MAX = 64;
    private static final int STATUS_ERROR = 2;

    private OtlpJson() {}

    /// All of it in parts, each of which is made when it is asked for.
    static Stream<RunTrace.Part> parts(RunTrace trace) {
        List<Span> spans = trace.spans();
        return Stream.iterate(0, first -> first < spans.size(), first -> end(spans, first))
                .map(first -> spans.subList(first, end(spans, first)))
                .map(part -> new RunTrace.Part(json(trace, part), part.size()));
    }

    /// Where the part ends that begins at `first`.
    private static int end(List<Span> spans, int first) {
        int end = first;
        long chars = 0;
        do {
            chars += spans.get(end++).chars();
        } while (end < spans.size()
                && end - first < LINE_SPANS_MAX
                && chars + spans.get(end).chars() <= LINE_CHARS_MAX);
        return end;
    }

    private static String json(RunTrace trace, Iterable<Span> spans) {
        var text = new StringWriter();
        try (JsonGenerator out = new JsonFactory().createGenerator(text)) {
            out.writeStartObject();
            out.writeArrayFieldStart("resourceSpans");
            out.writeStartObject();
            out.writeObjectFieldStart("resource");
            attributes(out, trace.resource());
            out.writeEndObject();
            out.writeArrayFieldStart("scopeSpans");
            out.writeStartObject();
            out.writeObjectFieldStart("scope");
            out.writeStringField("name", "blackbox");
            out.writeStringField("version", Release.VERSION);
            out.writeEndObject();
            out.writeArrayFieldStart("spans");
            for (Span span : spans) {
                span(out, trace.id(), span);
            }
            out.writeEndArray();
            out.writeStringField("schemaUrl", SCHEMA_URL);
            out.writeEndObject();
            out.writeEndArray();
            out.writeStringField("schemaUrl", SCHEMA_URL);
            out.writeEndObject();
            out.writeEndArray();
            out.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // not in memory
        }
        return text.toString();
    }

    private static void span(JsonGenerator out, String trace, Span span) throws IOException {
        out.writeStartObject();
        out.writeStringField("traceId", trace);
        out.writeStringField("spanId", span.id());
        if (span.parent() != null) {
            out.writeStringField("parentSpanId", span.parent());
        }
        out.writeStringField("name", span.name());
        out.writeNumberField("kind", span.kind().number());
        out.writeStringField("startTimeUnixNano", Long.toString(span.startNs()));
        out.writeStringField("endTimeUnixNano", Long.toString(span.endNs()));
        Span.Details details = span.details();
        attributes(out, details.attributes());
        if (!details.events().isEmpty()) {
            out.writeArrayFieldStart("events");
            for (Span.Event event : details.events()) {
                out.writeStartObject();
                out.writeStringField("timeUnixNano", Long.toString(event.atNs()));
                out.writeStringField("name", event.name());
                attributes(out, event.attributes());
                out.writeEndObject();
            }
            out.writeEndArray();
        }
        if (!details.links().isEmpty()) {
            out.writeArrayFieldStart("links");
            for (Span.Link link : details.links()) {
                out.writeStartObject();
                out.writeStringField("traceId", trace);
                out.writeStringField("spanId", link.span());
                attributes(out, link.attributes());
                out.writeEndObject();
            }
            out.writeEndArray();
        }
        Span.Failure failed = details.failed();
        if (failed != null) {
            out.writeObjectFieldStart("status");
            if (failed.message() != null) {
                out.writeStringField("message", failed.message());
            }
            out.writeNumberField("code", STATUS_ERROR);
            out.writeEndObject();
        }
        out.writeEndObject();
    }

    private static void attributes(JsonGenerator out, Attributes attributes) throws IOException {
        out.writeArrayFieldStart("attributes");
        for (Map.Entry<String, Value> each : attributes.values().entrySet()) {
            out.writeStartObject();
            out.writeStringField("key", each.getKey());
            out.writeFieldName("value");
            value(out, each.getValue());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    /// As an `AnyValue`.
    private static void value(JsonGenerator out, Value value) throws IOException {
        out.writeStartObject();
        switch (value) {
            case Value.Text(String text) -> out.writeStringField("stringValue", text);
            case Value.Int(long number) -> out.writeStringField("intValue", Long.toString(number));
            case Value.Bool(boolean is) -> out.writeBooleanField("boolValue", is);
            case Value.Texts(var texts) -> {
                startArray(out);
                for (String text : texts) {
                    value(out, new Value.Text(text));
                }
                endArray(out);
            }
            case Value.Ints(var numbers) -> {
                startArray(out);
                for (Long number : numbers) {
                    value(out, new Value.Int(number));
                }
                endArray(out);
            }
        }
        out.writeEndObject();
    }

    private static void startArray(JsonGenerator out) throws IOException {
        out.writeObjectFieldStart("arrayValue");
        out.writeArrayFieldStart("values");
    }

    private static void endArray(JsonGenerator out) throws IOException {
        out.writeEndArray();
        out.writeEndObject();
    }
}
