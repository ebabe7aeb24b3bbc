package blackbox.node.serve.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class WrittenStreamTest {

    @Test
    void whatIsWrittenIsRead() throws Exception {
        var octets = new byte[1 << 20];
        new Random(1).nextBytes(octets);
        try (var stream = WrittenStream.of(out -> {
            out.write(octets[0]);
            for (int at = 1; at < octets.length; at += 1000) {
                out.write(octets, at, Math.min(1000, octets.length - at));
            }
        })) {
            assertArrayEquals(octets, stream.readAllBytes());
            assertEquals(-1, stream.read());
        }
        try (var stream = WrittenStream.of(_ -> {})) {
            assertEquals(-1, stream.read());
        }
    }

    @Test
    void aWriterThatCannotBeginGivesNoStream() {
        var refused = assertThrows(
                QueryException.class,
                () -> WrittenStream.of(_ -> {
                    throw new QueryException(Code.NOT_FOUND, "there is none");
                }));
        assertEquals(Code.NOT_FOUND, refused.code());
        assertThrows(
                IOException.class,
                () -> WrittenStream.of(_ -> {
                    throw new UncheckedIOException(new IOException("the disk failed"));
                }));
    }

    @Test
    void aWriterThatFailsBreaksItOff() throws Exception {
        try (var stream = WrittenStream.of(out -> {
            out.write("half".getBytes(StandardCharsets.US_ASCII));
            throw new IllegalStateException("the other half is gone");
        })) {
            assertEquals(4, stream.readNBytes(4).length);
            assertTrue(String.valueOf(assertThrows(IOException.class, stream::read))
                    .contains("the other half is gone"));
        }
    }

    @Test
    void aWriterIsNoFasterThanItsReaderAndEndsWhenItHasGone() throws Exception {
        var over = new CountDownLatch(1);
        var stream = WrittenStream.of(out -> {
            try {
                while (true) {
                    out.write(new byte[1000]);
                }
            } finally {
                over.countDown();
            }
        });
        assertEquals(0, stream.read());
        assertTrue(!over.await(50, TimeUnit.MILLISECONDS), "it waits for its reader");
        stream.close();
        assertTrue(over.await(20, TimeUnit.SECONDS));
    }

    /// What a run prints comes when it comes: until then there is an answer all the same, and its end is noticed.
    @Test
    void aWriterThatOnlyWaitsIsEnded() throws Exception {
        var over = new CountDownLatch(1);
        var stream = WrittenStream.of(out -> {
            try {
                while (true) {
                    out.flush();
                    new CountDownLatch(1).await();
                }
            } finally {
                over.countDown();
            }
        });
        var reading = new CompletableFuture<Integer>();
        Thread.ofVirtual().start(() -> {
            try {
                reading.complete(stream.read());
            } catch (IOException e) {
                reading.completeExceptionally(e);
            }
        });
        assertTrue(!over.await(50, TimeUnit.MILLISECONDS));
        stream.close();
        assertTrue(over.await(20, TimeUnit.SECONDS));
        assertThrows(ExecutionException.class, () -> reading.get(20, TimeUnit.SECONDS));
    }
}
