package blackbox.query.answer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;

/// A stream's events as the octets of NDJSON, made as they are read: a slow reader costs no memory. Blocks
/// while a followed run has nothing new. Has at most `eventsMax` events.
public final class EventBytes extends InputStream {

    private static final int CHUNK_BYTES = 64 << 10;
    private static final JsonFactory JSON = new JsonFactory();

    private final EventStream stream;
    private final ByteArrayOutputStream buffer = new ByteArrayOutputStream(CHUNK_BYTES);
    private byte[] chunk = new byte[0];
    private int at;
    private long left;
    private boolean ended;

    public EventBytes(EventStream stream, long eventsMax) {
        this.stream = stream;
        this.left = eventsMax;
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        while (at == chunk.length) {
            if (ended) {
                return -1;
            }
            fill();
        }
        int n = Math.min(length, chunk.length - at);
        System.arraycopy(chunk, at, target, offset, n);
        at += n;
        return n;
    }

    private void fill() throws IOException {
        buffer.reset();
        EventStream.Step step = EventStream.Step.EVENT;
        while (buffer.size() < CHUNK_BYTES && step == EventStream.Step.EVENT) {
            step = left == 0 ? EventStream.Step.END : stream.next();
            if (step == EventStream.Step.EVENT) {
                left--;
                append();
            }
        }
        ended = step == EventStream.Step.END;
        chunk = buffer.toByteArray();
        at = 0;
        if (chunk.length == 0 && !ended) {
            pause();
        }
    }

    private void append() throws IOException {
        try (JsonGenerator out =
                JSON.createGenerator(buffer).configure(JsonGenerator.Feature.AUTO_CLOSE_TARGET, false)) {
            EventJson.write(out, stream.index(), stream.row());
        }
        buffer.write('\n');
    }

    private static void pause() throws InterruptedIOException {
        try {
            Thread.sleep(EventStream.POLL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while following a run");
        }
    }

    @Override
    public void close() throws IOException {
        stream.close();
    }
}
