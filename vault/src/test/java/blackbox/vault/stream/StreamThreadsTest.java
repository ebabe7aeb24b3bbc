package blackbox.vault.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Streams with a thread of their own.
@Timeout(120)
class StreamThreadsTest {

    private static final int BUFFER = 1 << 18;

    private static byte[] octets(int length) {
        var octets = new byte[length];
        new Random(length).nextBytes(octets);
        return octets;
    }

    /// Gives some octets, a few at a time, and then fails, if it is to. Knows its reader, and whether it was
    /// closed.
    private static final class Source extends InputStream {
        private final byte[] octets;
        private final @Nullable Throwable failure;
        private final Random random = new Random(3);
        private int at;
        private volatile @Nullable Thread reader;
        private volatile boolean closed;

        Source(byte[] octets, @Nullable Throwable failure) {
            this.octets = octets;
            this.failure = failure;
        }

        @Override
        public int read() throws IOException {
            throw new IOException("one octet at a time is not meant");
        }

        @Override
        public int read(byte[] into, int offset, int count) throws IOException {
            reader = Thread.currentThread();
            if (at == octets.length) {
                Threads.rethrow(failure);
                return -1;
            }
            int part = Math.min(Math.min(count, octets.length - at), 1 + random.nextInt(100_000));
            System.arraycopy(octets, at, into, offset, part);
            at += part;
            return part;
        }

        @Override
        public void close() {
            Thread last = reader;
            if (last != null) {
                assertFalse(last.isAlive(), "it is still being read");
            }
            closed = true;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, BUFFER - 1, BUFFER, BUFFER + 1, 5_000_000})
    void readingAheadChangesNothing(int length) throws IOException {
        byte[] octets = octets(length);
        var source = new Source(octets, null);
        try (var in = new ReadAheadInput(source, "test")) {
            var read = new ByteArrayOutputStream();
            var random = new Random(4);
            var part = new byte[300_000];
            for (int count = 0; count >= 0; count = in.read(part, 1, 1 + random.nextInt(part.length - 1))) {
                read.write(part, 1, count);
            }
            assertArrayEquals(octets, read.toByteArray());
            assertEquals(-1, in.read());
            assertEquals(-1, in.read(part));
            assertNotSame(Thread.currentThread(), source.reader);
        }
        assertTrue(source.closed);
    }

    @Test
    void aFailureComesAfterTheOctetsBeforeIt() throws IOException {
        byte[] octets = octets(BUFFER + 1_000);
        for (Throwable failure :
                new Throwable[] {new EOFException("cut"), new IllegalStateException("wrong"), new StackOverflowError()
                }) {
            var source = new Source(octets, failure);
            try (var in = new ReadAheadInput(source, "test")) {
                assertArrayEquals(octets, in.readNBytes(octets.length));
                assertSame(failure, assertThrows(failure.getClass(), in::read));
                assertSame(failure, assertThrows(failure.getClass(), in::read), "it is not forgotten");
            }
            assertTrue(source.closed);
        }
    }

    @Test
    void itReadsALittleAheadOnlyAndEndsWhenItIsClosed() throws IOException {
        var source = new Source(octets(20 * BUFFER), null);
        var in = new ReadAheadInput(source, "test");
        assertTrue(in.read() >= 0);
        in.close();
        in.close();
        assertTrue(source.closed);
        assertTrue(source.at <= 6 * BUFFER, "read " + source.at);
        assertThrows(IOException.class, in::read);
    }

    /// A source that has nothing yet.
    private static final class Waiting extends InputStream {
        private final CountDownLatch never = new CountDownLatch(1);

        @Override
        public int read() throws IOException {
            return read(new byte[1], 0, 1);
        }

        @Override
        public int read(byte[] into, int offset, int count) throws IOException {
            try {
                never.await();
                return -1;
            } catch (InterruptedException _) {
                throw new InterruptedIOException();
            }
        }
    }

    @Test
    void closingInterruptsASourceThatWaits() throws IOException {
        var in = new ReadAheadInput(new Waiting(), "test");
        in.close();
        assertThrows(IOException.class, in::read);
    }

    @Test
    void aReaderThatIsInterruptedStaysSo() throws IOException {
        try (var in = new ReadAheadInput(new Waiting(), "test")) {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedIOException.class, in::read);
            assertTrue(Thread.interrupted());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, BUFFER - 1, BUFFER, BUFFER + 1, 5_000_000})
    void writingBehindChangesNothing(int length) throws IOException {
        byte[] octets = octets(length);
        var written = new ByteArrayOutputStream();
        try (var out = new WriteBehindOutput(written, "test")) {
            var random = new Random(5);
            for (int at = 0; at < length; ) {
                int part = Math.min(length - at, 1 + random.nextInt(300_000));
                out.write(octets, at, part);
                at += part;
            }
            out.drain();
            assertArrayEquals(octets, written.toByteArray());
            assertThrows(IOException.class, () -> out.write(1));
        }
    }

    /// The writer learns of it, however much more it writes, and is never stuck.
    @Test
    void aFailureToWriteIsThrownToTheWriter() {
        var failure = new IOException("the disk is full");
        try (var out = new WriteBehindOutput(
                new OutputStream() {
                    @Override
                    public void write(int octet) throws IOException {
                        throw failure;
                    }
                },
                "test")) {
            byte[] octets = octets(BUFFER);
            assertSame(failure, assertThrows(IOException.class, () -> {
                for (int i = 0; i < 20; i++) {
                    out.write(octets);
                }
            }));
            assertSame(failure, assertThrows(IOException.class, out::drain));
        }
    }

    /// The last octets are written while the writer waits.
    @Test
    void aFailureAtTheEndIsThrownToo() throws IOException {
        var failure = new IllegalStateException("no cipher");
        try (var out = new WriteBehindOutput(
                new OutputStream() {
                    @Override
                    public void write(int octet) {
                        throw failure;
                    }
                },
                "test")) {
            out.write(1);
            assertSame(failure, assertThrows(IllegalStateException.class, out::drain));
        }
    }

    @Test
    void whatIsClosedIsNotDrained() throws IOException {
        var written = new ByteArrayOutputStream();
        var out = new WriteBehindOutput(written, "test");
        out.write(octets(10));
        out.close();
        assertThrows(IOException.class, out::drain);
        assertThrows(IOException.class, () -> out.write(1));
    }

    /// Secrets go through these buffers.
    @Test
    void whatTheBuffersHeldIsOverwritten() throws InterruptedException {
        var handover = new Handover();
        Handover.Buffer emptied = handover.take();
        Handover.Buffer left = handover.take();
        for (Handover.Buffer each : List.of(emptied, left)) {
            Arrays.fill(each.octets, (byte) 7);
            each.length = BUFFER;
            handover.put(each);
        }
        assertSame(emptied, handover.next());
        handover.emptied(emptied);
        handover.clear();
        assertArrayEquals(new byte[BUFFER], emptied.octets);
        assertArrayEquals(new byte[BUFFER], left.octets);
    }
}
