package blackbox.calls.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.async.ByteArrayFeeder;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Reads JSON values, one after the other, from octets that come in pieces. What is kept of them has bounds; how long
/// they are does not matter. One thread at a time.
public final class JsonReader implements AutoCloseable {
    /// How deep a value may be nested.
    public static final int DEPTH_MAX = 200;

    private static final String TOO_LARGE =
            "the JSON is nested deeper than " + DEPTH_MAX + " levels, or a name or number in it is too long";

    private static final String NOT_VALID = "the JSON is not valid";
    private static final String BREAKS_OFF = "the JSON breaks off";

    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(DEPTH_MAX)
                    .maxNameLength(4096)
                    .maxNumberLength(512)
                    .build())
            // A table of names that lives as long as the process is nothing for names that strangers choose.
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .build();

    /// The parser is fed so much at once, however the octets come: which texts that are not valid it accepts depends
    /// on how they are divided, and what is read must not.
    private static final int BLOCK_BYTES = 8192;

    /// Takes what was read.
    public interface Sink {
        /// An element of a list that is handed over.
        ///
        /// @param list the name in its shape
        /// @param index of the element
        /// @param endOffset how many octets there were when it had ended
        void element(String list, Json element, long index, long endOffset);

        /// A value has ended.
        void value(Json value, long endOffset);

        /// The value has something that is not kept, or is ambiguous.
        void remark(String what);

        /// The value could be read in another way.
        default void ambiguous(String what) {
            remark(what);
        }
    }

    private final StringClipper clipper = new StringClipper();
    private final JsonParser parser;
    private final ByteArrayFeeder feeder;
    private final Keeper keeper;
    private byte[] block = new byte[256];
    private int filled;
    private long fed;
    private long clipped;
    private boolean closed;
    private @Nullable String failure;

    public JsonReader(Shape shape, Sink sink) {
        keeper = new Keeper(shape, sink);
        try {
            parser = JSON.createNonBlockingByteArrayParser();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // it opens nothing
        }
        feeder = (ByteArrayFeeder) parser.getNonBlockingInputFeeder();
    }

    /// More octets. After a failure they are ignored.
    public void feed(byte[] octets, int from, int to) {
        for (int at = from; at < to && failure == null; at++) {
            if (!clipper.passes(octets[at])) {
                parseBlock();
                clipped++;
            } else if (clipper.bareTooLong() || clipper.closesAfterComma()) {
                parseBlock();
                failure = failure != null ? failure : clipper.bareTooLong() ? TOO_LARGE : NOT_VALID;
            } else {
                if (filled == block.length) {
                    block = Arrays.copyOf(block, 2 * filled);
                }
                block[filled++] = octets[at];
                if (filled == BLOCK_BYTES) {
                    parseBlock();
                }
            }
        }
    }

    /// There are no more. Whether all that was fed is whole values.
    public boolean end() {
        parseBlock();
        if (failure == null) {
            feeder.endOfInput();
            drain();
        }
        if (failure == null && keeper.inValue()) {
            failure = BREAKS_OFF;
        }
        return failure == null;
    }

    /// Why the rest was not read; null if nothing is wrong so far.
    public @Nullable String failure() {
        return failure;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            try {
                parser.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e); // there is nothing behind it
            }
        }
    }

    private void parseBlock() {
        if (filled > 0 && failure == null) {
            try {
                feeder.feedInput(block, 0, filled);
                fed += filled;
                filled = 0;
            } catch (IOException e) {
                failure = NOT_VALID;
                return;
            }
            drain();
        }
    }

    private void drain() {
        try {
            for (JsonToken token = parser.nextToken();
                    token != null && token != JsonToken.NOT_AVAILABLE;
                    token = parser.nextToken()) {
                long end = Math.min(fed, parser.currentLocation().getByteOffset()) + clipped;
                keeper.take(token, parser, end);
            }
        } catch (StreamConstraintsException e) {
            failure = TOO_LARGE;
        } catch (JsonEOFException e) {
            failure = BREAKS_OFF;
        } catch (JsonProcessingException e) {
            failure = NOT_VALID;
        } catch (IOException e) {
            failure = NOT_VALID;
        }
    }
}
