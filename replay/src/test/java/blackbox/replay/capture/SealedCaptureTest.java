package blackbox.replay.capture;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.vault.ShredMark;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SealedCaptureTest {

    private int[] ends = {100, 250, 300};

    private static final RunId RUN = new RunId("01jd8x3k9zq4v7w2m5n6p8r0st");

    @TempDir
    Path folder;

    private byte[] octets = new byte[0];
    private Path file = Path.of("");
    private Payload payload;

    @BeforeEach
    void write() throws Exception {
        octets = new byte[320];
        new Random(1).nextBytes(octets);
        payload = Payload.of(Recordings.unchecked(folder), RUN, "blocks");
        Path captures = Files.createDirectories(new DataFolder(folder).captures(RUN));
        file = Files.write(captures.resolve("blocks"), octets);
    }

    private Path encrypt() throws Exception {
        payload.vault().encrypt(RUN, _ -> {});
        return payload.file();
    }

    @Test
    void anEncryptedFileReadsAsThePlainOne() throws Exception {
        assertTrue(encrypt().toString().endsWith("blocks.enc"));
        whatWasSealedHolds();
    }

    /// The octets are checked twice: a changed file has no genuine segment, and one that was rewritten with the
    /// key does not have the digest that the run sealed.
    @Test
    void anEncryptedFileThatChangedIsFound() throws Exception {
        Path encrypted = encrypt();
        byte[] stored = Files.readAllBytes(encrypted);
        for (int at = 0; at < stored.length; at += 7) {
            byte[] changed = stored.clone();
            changed[at] ^= 1;
            Files.write(encrypted, changed);
            var failure = assertThrows(ReplayException.class, () -> capture().check());
            assertEquals(Code.ALTERED, failure.code(), "octet " + at + ": " + failure.getMessage());
        }
        for (int at : new int[] {0, 99, 100, 249, 250, 299}) {
            byte[] changed = octets.clone();
            changed[at] ^= 1;
            Files.write(file, changed);
            encrypt();
            var failure = assertThrows(ReplayException.class, () -> capture().check());
            assertEquals(Code.ALTERED, failure.code());
            assertTrue(String.valueOf(failure.getMessage()).contains("is not what was sealed: event"));
        }
    }

    @Test
    void whatPrecedesTheCutOfAnEncryptedFileIsStillUsable() throws Exception {
        octets = new byte[200_000];
        new Random(2).nextBytes(octets);
        Files.write(file, octets);
        ends = new int[] {60_000, 120_000, 199_000};
        Path encrypted = encrypt();
        byte[] stored = Files.readAllBytes(encrypted);
        capture().check();
        Files.write(encrypted, Arrays.copyOf(stored, 150_000));
        var failure = assertThrows(ReplayException.class, () -> capture().check());
        assertEquals(Code.MISSING, failure.code());
        assertTrue(String.valueOf(failure.getMessage()).contains("octet 120000 of 199000"), failure.getMessage());
        assertEquals(120_000, capture().checkTo(199_000));
        try (InputStream in = capture().open(120_000)) {
            assertArrayEquals(Arrays.copyOf(octets, 120_000), in.readAllBytes());
        }
        stored[100] ^= 1;
        Files.write(encrypted, Arrays.copyOf(stored, 150_000));
        assertEquals(
                Code.ALTERED,
                assertThrows(ReplayException.class, () -> capture().check()).code());
    }

    @Test
    void withoutTheRunsKeyItIsMissingAndSaysWhatThatMeans() throws Exception {
        encrypt();
        Files.delete(new DataFolder(folder).runKeys().resolve(RUN + ".key"));
        var failure = assertThrows(ReplayException.class, () -> capture().check());
        assertEquals(Code.MISSING, failure.code());
        assertTrue(String.valueOf(failure.getMessage()).contains("the key of run " + RUN), failure.getMessage());
    }

    @Test
    void aShreddedFileSaysSoAndWhy() throws Exception {
        encrypt();
        payload.vault().shred(new ShredMark(RUN, Instant.EPOCH, "a reason"));
        var failure = assertThrows(ReplayException.class, () -> capture().check());
        assertEquals(Code.MISSING, failure.code());
        assertTrue(String.valueOf(failure.getMessage()).contains("a reason"), failure.getMessage());
    }

    @Test
    void whatWasSealedHoldsAndTheTailDoesNotCount() throws Exception {
        whatWasSealedHolds();
        octets[310] ^= 1;
        Files.write(file, octets);
        capture().check();
    }

    private void whatWasSealedHolds() throws Exception {
        SealedCapture capture = capture();
        capture.check();
        assertEquals(300, capture.sealedBytes());
        try (InputStream in = capture.open()) {
            assertArrayEquals(Arrays.copyOf(octets, 300), in.readAllBytes());
        }
        try (InputStream in = capture.open(120)) {
            assertEquals(octets[0] & 0xff, in.read());
            assertEquals(9, in.skip(9));
            assertArrayEquals(Arrays.copyOfRange(octets, 10, 120), in.readAllBytes());
            assertEquals(-1, in.read());
        }
    }

    @Test
    void anyOctetThatChangedIsFoundWithItsPlace() throws Exception {
        for (int at : new int[] {0, 99, 100, 249, 250, 299}) {
            byte[] changed = octets.clone();
            changed[at] ^= 1;
            Files.write(file, changed);
            var failure = assertThrows(ReplayException.class, () -> capture().check());
            assertEquals(Code.ALTERED, failure.code());
            int segment = at < 100 ? 0 : at < 250 ? 1 : 2;
            String place = "octets " + (segment == 0 ? 0 : ends[segment - 1]) + " to " + ends[segment];
            assertTrue(String.valueOf(failure.getMessage()).contains(place), failure.getMessage());
        }
    }

    @Test
    void whatPrecedesACutIsStillUsable() throws Exception {
        Files.write(file, Arrays.copyOf(octets, 299));
        var failure = assertThrows(ReplayException.class, () -> capture().check());
        assertEquals(Code.MISSING, failure.code());
        assertTrue(String.valueOf(failure.getMessage()).contains("octet 250 of 300"), failure.getMessage());
        assertEquals(250, capture().checkTo(300));
        assertEquals(100, capture().checkTo(249));
    }

    @Test
    void aFileThatIsNotHereIsMissing() throws Exception {
        Files.delete(file);
        assertEquals(
                Code.MISSING,
                assertThrows(ReplayException.class, () -> capture().check()).code());
    }

    @Test
    void eventsThatContradictEachOtherAreRefused() throws Exception {
        String digest = "00".repeat(32);
        refuse("{\"from\":1,\"to\":2,\"sha256\":\"" + digest + "\"}");
        refuse("{\"from\":0,\"to\":0,\"sha256\":\"" + digest + "\"}");
        refuse("{\"from\":0,\"to\":5,\"sha256\":\"00\"}");
        refuse("{\"ended\":5,\"why\":\"budget\"}");
        refuse("{}");
        refuse("not JSON");
        refuse(
                "{\"from\":0,\"to\":5,\"sha256\":\"" + digest + "\"}",
                "{\"from\":4,\"to\":9,\"sha256\":\"" + digest + "\"}");
        refuse("{\"ended\":0,\"why\":\"budget\"}", "{\"from\":0,\"to\":5,\"sha256\":\"" + digest + "\"}");
    }

    @Test
    void anEarlyEndIsReported() throws Exception {
        var builder = new SealedCapture.Builder("blocks");
        builder.add(row("{\"from\":0,\"to\":5,\"sha256\":\"" + "00".repeat(32) + "\"}"), 7);
        builder.add(row("{\"ended\":5,\"why\":\"budget\"}"), 9);
        SealedCapture.Ended ended = builder.build(payload).ended();
        assertNotNull(ended);
        assertEquals(9, ended.index());
        assertEquals("budget", ended.why());
    }

    private void refuse(String... details) {
        var builder = new SealedCapture.Builder("blocks");
        var failure = assertThrows(ReplayException.class, () -> {
            for (String detail : details) {
                builder.add(row(detail), 7);
            }
        });
        assertEquals(Code.ALTERED, failure.code());
    }

    private static Row row(String detail) {
        return new Row().set(Column.AT_NS, 1).set(Column.DETAIL, detail);
    }

    private SealedCapture capture() throws ReplayException {
        var builder = new SealedCapture.Builder("blocks");
        int from = 0;
        for (int to : ends) {
            Hash digest = Hash.sha256(Arrays.copyOfRange(octets, from, to));
            builder.add(row("{\"from\":" + from + ",\"to\":" + to + ",\"sha256\":\"" + digest + "\"}"), to);
            from = to;
        }
        return builder.build(payload);
    }
}
