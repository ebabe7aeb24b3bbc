package blackbox.vault;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.RunId;
import blackbox.vault.VaultException.Code;
import com.google.crypto.tink.subtle.AesGcmHkdfStreaming;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The form of encrypted files, against Google's Tink, which defines it, and against an attacker.
class EncryptedPayloadTest {
    private static final RunId RUN = new RunId("01jd8x3k9zq4v7w2m5n6p8r0st");
    private static final PayloadKey KEY = key(1);
    private static final int FIRST = SegmentCipher.PLAIN_BYTES - SegmentCipher.HEADER_BYTES;
    private static final int NEXT = SegmentCipher.PLAIN_BYTES;
    private static final int STORED_FIRST = PayloadForm.MAGIC_BYTES + SegmentCipher.SEGMENT_BYTES;

    @TempDir
    Path folder;

    private static PayloadKey key(int seed) {
        var octets = new byte[PayloadKey.BYTES];
        new Random(seed).nextBytes(octets);
        return PayloadKey.of(octets);
    }

    private static byte[] octets(int length) {
        var octets = new byte[length];
        new Random(length).nextBytes(octets);
        return octets;
    }

    private static byte[] associated(String name) {
        return PayloadForm.PAYLOAD.associated(RUN, name);
    }

    private static AesGcmHkdfStreaming tink() throws Exception {
        return new AesGcmHkdfStreaming(KEY.octets(), "HmacSha256", 32, SegmentCipher.SEGMENT_BYTES, 0);
    }

    private byte[] written(byte[] plain, String name) throws IOException {
        Path target = folder.resolve("written");
        new PayloadWriter(new SecureRandom())
                .write(new ByteArrayInputStream(plain), target, KEY, PayloadForm.PAYLOAD, associated(name), _ -> {});
        return Files.readAllBytes(target);
    }

    private EncryptedPayload opened(byte[] stored, String name) throws IOException {
        Path file = Files.write(folder.resolve("stored"), stored);
        return EncryptedPayload.open(FileChannel.open(file), "stored", KEY, PayloadForm.PAYLOAD, associated(name));
    }

    private byte[] read(byte[] stored, String name) throws IOException {
        try (InputStream in = opened(stored, name).stream()) {
            return in.readAllBytes();
        }
    }

    /// What could be read before it failed, and how it failed.
    private record Failed(byte[] before, Code code) {}

    private Failed fails(byte[] stored, String name) throws IOException {
        var before = new ByteArrayOutputStream();
        var failure = assertThrows(VaultException.class, () -> {
            try (InputStream in = opened(stored, name).stream()) {
                in.transferTo(before);
            }
        });
        return new Failed(before.toByteArray(), failure.code());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 100, FIRST - 1, FIRST, FIRST + 1, FIRST + NEXT, FIRST + NEXT + 1, 1_000_000})
    void tinkReadsWhatIsWrittenHereAndTheReverse(int length) throws Exception {
        byte[] plain = octets(length);
        byte[] stored = written(plain, "blocks");
        byte[] stream = Arrays.copyOfRange(stored, PayloadForm.MAGIC_BYTES, stored.length);
        try (InputStream in = tink().newDecryptingStream(new ByteArrayInputStream(stream), associated("blocks"))) {
            assertArrayEquals(plain, in.readAllBytes());
        }

        var theirs = new ByteArrayOutputStream();
        theirs.write(PayloadForm.PAYLOAD.magic());
        try (OutputStream out = tink().newEncryptingStream(theirs, associated("blocks"))) {
            out.write(plain);
        }
        assertEquals(stored.length, theirs.size());
        assertArrayEquals(plain, read(theirs.toByteArray(), "blocks"));
        assertArrayEquals(plain, read(stored, "blocks"));
        try (OpenPayload payload = opened(stored, "blocks")) {
            assertEquals(length, payload.size());
        }
    }

    @Test
    void anyPlaceCanBeReadFirst() throws Exception {
        byte[] plain = octets(FIRST + 3 * NEXT + 17);
        byte[] stored = written(plain, "frames-in");
        long seed = System.nanoTime();
        var random = new Random(seed);
        try (OpenPayload payload = opened(stored, "frames-in")) {
            for (int i = 0; i < 2_000; i++) {
                int at = random.nextInt(plain.length);
                var into = ByteBuffer.allocate(1 + random.nextInt(Math.min(100_000, plain.length - at)));
                int n = payload.read(into, at);
                assertTrue(n > 0, "seed " + seed);
                assertArrayEquals(
                        Arrays.copyOfRange(plain, at, at + n), Arrays.copyOf(into.array(), n), "seed " + seed);
            }
            assertEquals(-1, payload.read(ByteBuffer.allocate(1), plain.length));
            assertEquals(-1, payload.read(ByteBuffer.allocate(1), plain.length + 10_000_000L));
        }
    }

    @Test
    void noChangedOctetIsReturned() throws Exception {
        byte[] small = written(octets(50), "stdin");
        for (int at = 0; at < small.length; at++) {
            for (int bit = 1; bit < 256; bit <<= 1) {
                byte[] changed = small.clone();
                changed[at] ^= (byte) bit;
                assertEquals(0, fails(changed, "stdin").before().length, "octet " + at);
            }
        }
        byte[] plain = octets(FIRST + 2 * NEXT);
        byte[] large = written(plain, "stdin");
        for (int segment = 0; segment < 3; segment++) {
            byte[] changed = large.clone();
            changed[STORED_FIRST + (segment - 1) * SegmentCipher.SEGMENT_BYTES + 100] ^= 4;
            Failed failed = fails(changed, "stdin");
            assertEquals(segment == 2 ? Code.CUT : Code.ALTERED, failed.code(), "segment " + segment);
            int whole = segment == 0 ? 0 : FIRST + (segment - 1) * NEXT;
            assertArrayEquals(Arrays.copyOf(plain, whole), failed.before(), "segment " + segment);
        }
    }

    @Test
    void aCutFileIsCalledOneAndNeverEndsQuietly() throws Exception {
        byte[] plain = octets(FIRST + NEXT + 300);
        byte[] stored = written(plain, "rr");
        int segment = SegmentCipher.SEGMENT_BYTES;
        for (int length : new int[] {
            0,
            1,
            19,
            20,
            59,
            60,
            61,
            75,
            76,
            5_000,
            STORED_FIRST - 1,
            STORED_FIRST,
            STORED_FIRST + 1,
            STORED_FIRST + 16,
            STORED_FIRST + segment - 1,
            STORED_FIRST + segment,
            STORED_FIRST + segment + 15,
            stored.length - 1
        }) {
            Failed failed = fails(Arrays.copyOf(stored, length), "rr");
            assertEquals(Code.CUT, failed.code(), "cut to " + length);
            assertArrayEquals(Arrays.copyOf(plain, failed.before().length), failed.before(), "cut to " + length);
            if (length >= STORED_FIRST) {
                assertTrue(failed.before().length >= FIRST, "what is whole can be read; cut to " + length);
            }
        }
    }

    @Test
    void nothingCanBeMovedLeftOutOrAdded() throws Exception {
        byte[] stored = written(octets(FIRST + 2 * NEXT + 9), "rr");
        int one = STORED_FIRST;
        int two = one + SegmentCipher.SEGMENT_BYTES;
        int three = two + SegmentCipher.SEGMENT_BYTES;
        byte[] swapped = stored.clone();
        System.arraycopy(stored, two, swapped, one, SegmentCipher.SEGMENT_BYTES);
        System.arraycopy(stored, one, swapped, two, SegmentCipher.SEGMENT_BYTES);
        assertEquals(Code.ALTERED, fails(swapped, "rr").code());

        var without = new ByteArrayOutputStream();
        without.write(stored, 0, one);
        without.write(stored, two, stored.length - two);
        assertEquals(Code.ALTERED, fails(without.toByteArray(), "rr").code());

        var longer = new ByteArrayOutputStream();
        longer.write(stored);
        longer.write(stored, three, stored.length - three);
        assertEquals(Code.CUT, fails(longer.toByteArray(), "rr").code());
        longer.write(new byte[2 * SegmentCipher.SEGMENT_BYTES]);
        assertEquals(Code.ALTERED, fails(longer.toByteArray(), "rr").code());
    }

    @Test
    void aFileIsBoundToItsNameItsRunAndItsKey() throws Exception {
        byte[] stored = written(octets(FIRST + 100), "frames-in");
        assertEquals(Code.ALTERED, fails(stored, "frames-out").code());
        Path file = Files.write(folder.resolve("stored"), stored);
        var other = new RunId("01jd8x3k9zq4v7w2m5n6p8r0sv");
        for (EncryptedPayload wrong : new EncryptedPayload[] {
            EncryptedPayload.open(
                    FileChannel.open(file),
                    "stored",
                    KEY,
                    PayloadForm.PAYLOAD,
                    PayloadForm.PAYLOAD.associated(other, "frames-in")),
            EncryptedPayload.open(
                    FileChannel.open(file), "stored", key(2), PayloadForm.PAYLOAD, associated("frames-in"))
        }) {
            try (wrong) {
                var failure = assertThrows(VaultException.class, () -> wrong.read(ByteBuffer.allocate(1), 0));
                assertEquals(Code.ALTERED, failure.code());
            }
        }
    }

    @Test
    void theSameOctetsNeverLookTheSame() throws Exception {
        byte[] plain = new byte[200_000];
        byte[] first = written(plain, "blocks");
        byte[] second = written(plain, "blocks");
        int same = 0;
        for (int i = PayloadForm.MAGIC_BYTES + 1; i < first.length; i++) {
            same += first[i] == second[i] ? 1 : 0;
        }
        assertTrue(same < first.length / 100, same + " octets are the same");
    }

    /// What version 1 stored is read for ever.
    @Test
    void versionOneIsRead() throws Exception {
        byte[] stored;
        try (InputStream in = Objects.requireNonNull(getClass().getResourceAsStream("/payload/v1/stdin.enc"))) {
            stored = in.readAllBytes();
        }
        byte[] key = HexFormat.of().parseHex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
        Path file = Files.write(folder.resolve("golden"), stored);
        try (InputStream in = EncryptedPayload.open(
                FileChannel.open(file), "golden", PayloadKey.of(key), PayloadForm.PAYLOAD, associated("stdin"))
                .stream()) {
            assertEquals("what the agent was given\n", new String(in.readAllBytes(), StandardCharsets.US_ASCII));
        }
    }
}
