package blackbox.calls.read;

import blackbox.calls.json.Json;
import blackbox.calls.json.JsonReader;
import blackbox.calls.json.Shape;
import blackbox.calls.wire.AwsEventStream;
import blackbox.calls.wire.ContentDecoder;
import blackbox.calls.wire.ServerSentEvents;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Reads one body, from its content coding down to JSON.
final class BodyReader implements AutoCloseable {
    /// What a body is made of.
    enum Format {
        JSON,
        SERVER_SENT_EVENTS,
        AWS_EVENT_STREAM,
        /// Whatever it looks like: JSON or server-sent events.
        UNSTATED,
        UNKNOWN
    }

    /// Takes what a body says.
    interface Sink {
        /// What is needed of a body that is JSON.
        Shape value();

        /// An element of a list that [#value] hands over.
        void element(Json element, long index, long end);

        /// A value of a body that is JSON.
        void value(Json value, long end);

        /// What is needed of an event.
        Shape event();

        /// An event.
        void event(String type, Json data, long end);

        /// The event `[DONE]`.
        void done();

        /// An event stream says that something failed.
        void failed(@Nullable String type, @Nullable String message);
    }

    private static final byte[] DONE = "[DONE]".getBytes(StandardCharsets.US_ASCII);
    private static final Shape CHUNK = Shape.object().texts(AwsEventStream.MESSAGE_BYTES_MAX / 8, "bytes");
    private static final Shape EXCEPTION = Shape.object().texts(Dialect.MESSAGE_CHARS_MAX, "message", "Message");

    private final String which;
    private final Sink sink;
    private final Notes notes;
    private final @Nullable ContentDecoder decoder;
    private Format format;
    private @Nullable JsonReader json;
    private @Nullable ServerSentEvents events;
    private @Nullable AwsEventStream messages;
    private final EventData event = new EventData();
    private long octets;
    private long base;
    private boolean ambiguous;

    /// @param which of the two bodies, for notes
    BodyReader(String which, @Nullable String coding, Format format, Sink sink, Notes notes) {
        this.which = which;
        this.sink = sink;
        this.notes = notes;
        this.format = format;
        decoder = format == Format.UNKNOWN ? null : ContentDecoder.of(coding, this::take);
        if (decoder == null && format != Format.UNKNOWN) {
            note("its content coding is not known here");
        }
    }

    void feed(byte[] body, int from, int to) {
        if (decoder != null) {
            decoder.feed(body, from, to);
        }
    }

    /// There is no more of it.
    void end() {
        if (decoder != null) {
            decoder.end();
            noteIf(decoder.failure());
        }
        if (json != null) {
            json.end();
            noteIf(json.failure());
        }
        if (events != null && events.inEvent()) {
            note("its last event breaks off");
        }
        if (messages != null) {
            noteIf(messages.failure());
            if (messages.failure() == null && messages.inMessage()) {
                note("its last message breaks off");
            }
            if (messages.leftOff() > 0) {
                note("messages of more than " + AwsEventStream.MESSAGE_BYTES_MAX + " octets: " + messages.leftOff());
            }
        }
        close();
    }

    /// Whether it was JSON, after its end, that nobody reads in another way.
    boolean isCertain() {
        return decoder != null && decoder.failure() == null && json != null && json.failure() == null && !ambiguous;
    }

    /// How many octets of it there were, decoded.
    long octets() {
        return octets;
    }

    @Override
    public void close() {
        if (decoder != null) {
            decoder.close();
        }
        if (json != null) {
            json.close();
        }
        event.close();
    }

    private void note(String what) {
        notes.add(which + ": " + what);
    }

    private void noteIf(@Nullable String failure) {
        if (failure != null) {
            note(failure);
        }
    }

    private void take(byte[] body, int from, int to) {
        int at = from;
        while (format == Format.UNSTATED && at < to) {
            if (" \t\r\n".indexOf(body[at]) < 0) {
                format = body[at] == '{' || body[at] == '[' ? Format.JSON : Format.SERVER_SENT_EVENTS;
                base = octets;
            } else {
                at++;
                octets++;
            }
        }
        octets += to - at;
        switch (format) {
            case JSON -> json().feed(body, at, to);
            case SERVER_SENT_EVENTS -> events().feed(body, at, to);
            case AWS_EVENT_STREAM -> messages().feed(body, at, to);
            case UNSTATED, UNKNOWN -> {}
        }
    }

    private JsonReader json() {
        if (json == null) {
            json = new JsonReader(sink.value(), new JsonReader.Sink() {
                @Override
                public void element(String list, Json element, long index, long endOffset) {
                    sink.element(element, index, base + endOffset);
                }

                @Override
                public void value(Json value, long endOffset) {
                    sink.value(value, base + endOffset);
                }

                @Override
                public void remark(String what) {
                    note(what);
                }

                @Override
                public void ambiguous(String what) {
                    ambiguous = true;
                    note(what);
                }
            });
        }
        return json;
    }

    private ServerSentEvents events() {
        if (events == null) {
            events = new ServerSentEvents(new ServerSentEvents.Sink() {
                @Override
                public void data(byte[] data, int from, int to) {
                    event.feed(data, from, to);
                }

                @Override
                public void event(String type, long endOffset) {
                    event.end(type, base + endOffset);
                }
            });
        }
        return events;
    }

    private AwsEventStream messages() {
        if (messages == null) {
            messages = new AwsEventStream(this::message);
        }
        return messages;
    }

    private void message(Map<String, String> headers, ByteBuffer payload, long end) {
        String kind = headers.getOrDefault(":message-type", "event");
        String type = headers.getOrDefault(":event-type", "");
        if (kind.equals("error")) {
            sink.failed(headers.get(":error-code"), headers.get(":error-message"));
        } else if (kind.equals("exception")) {
            Json said = parse(EXCEPTION, payload);
            String message = said == null ? null : said.text("message");
            sink.failed(
                    headers.get(":exception-type"), message == null && said != null ? said.text("Message") : message);
        } else if (type.equals("chunk")) {
            chunk(payload, end);
        } else {
            Json data = parse(sink.event(), payload);
            if (data != null) {
                sink.event(type, data, end);
            }
        }
    }

    /// A part of what InvokeModelWithResponseStream answers: octets of the model's own event, in base64.
    private void chunk(ByteBuffer payload, long end) {
        Json chunk = parse(CHUNK, payload);
        if (chunk == null || !(chunk.get("bytes") instanceof Json.Text(String text, boolean cut)) || cut) {
            note("a chunk without octets, or with too many");
            return;
        }
        try {
            Json data = parse(sink.event(), ByteBuffer.wrap(Base64.getDecoder().decode(text)));
            if (data != null) {
                sink.event("", data, end);
            }
        } catch (IllegalArgumentException e) {
            note("a chunk that is not base64");
        }
    }

    private @Nullable Json parse(Shape shape, ByteBuffer payload) {
        try (var value = new OneValue(shape)) {
            value.feed(
                    payload.array(),
                    payload.arrayOffset() + payload.position(),
                    payload.arrayOffset() + payload.limit());
            return value.end();
        }
    }

    /// Octets that are one JSON value.
    private final class OneValue implements JsonReader.Sink, AutoCloseable {
        private final JsonReader reader;
        private @Nullable Json value;
        private int values;

        OneValue(Shape shape) {
            reader = new JsonReader(shape, this);
        }

        void feed(byte[] data, int from, int to) {
            reader.feed(data, from, to);
        }

        /// The value; null if it cannot be read.
        @Nullable
        Json end() {
            if (!reader.end()) {
                note("an event whose data is no JSON: " + reader.failure());
                return null;
            }
            if (values > 1) {
                note("an event with more than one JSON value");
            }
            return value;
        }

        @Override
        public void element(String list, Json element, long index, long endOffset) {}

        @Override
        public void value(Json given, long endOffset) {
            value = values++ == 0 ? given : null;
        }

        @Override
        public void remark(String what) {
            note(what);
        }

        @Override
        public void close() {
            reader.close();
        }
    }

    /// The data of the current server-sent event.
    private final class EventData {
        private final byte[] beginning = new byte[DONE.length];
        private long length;
        private @Nullable OneValue value;

        void feed(byte[] data, int from, int to) {
            for (int at = from; at < to && length + at - from < beginning.length; at++) {
                beginning[(int) length + at - from] = data[at];
            }
            length += to - from;
            if (value == null) {
                value = new OneValue(sink.event());
            }
            value.feed(data, from, to);
        }

        void end(String type, long end) {
            if (value != null) {
                if (length == DONE.length && Arrays.equals(beginning, DONE)) {
                    sink.done();
                } else {
                    Json data = value.end();
                    if (data != null) {
                        sink.event(type, data, end);
                    }
                }
            }
            close();
        }

        void close() {
            if (value != null) {
                value.close();
            }
            value = null;
            length = 0;
        }
    }
}
