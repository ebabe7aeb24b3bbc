package blackbox.vm.snapshot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Hash;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A digest that depends on the content, all of it, and on nothing else.
final class PageDigestTest {

    private static final int PAGE = 4096;

    @TempDir
    Path folder;

    /// As the page of the class says it, over the whole content.
    private static Hash specified(byte[] content) throws Exception {
        var text = new ByteArrayOutputStream();
        var out = new DataOutputStream(text);
        out.write("blackbox-pages-v1\n".getBytes(StandardCharsets.US_ASCII));
        out.writeLong(content.length);
        for (int page = 0; page * PAGE < content.length; page++) {
            var octets = new byte[PAGE];
            System.arraycopy(content, page * PAGE, octets, 0, Math.min(PAGE, content.length - page * PAGE));
            boolean any = false;
            for (byte octet : octets) {
                any |= octet != 0;
            }
            if (any) {
                out.writeLong(page);
                out.write(octets);
            }
        }
        return Hash.sha256(text.toByteArray());
    }

    private Path file(String name, byte[] content, boolean holes) throws Exception {
        Path file = folder.resolve(name);
        if (!holes) {
            return Files.write(file, content);
        }
        try (var raw = new RandomAccessFile(file.toFile(), "rw")) {
            raw.setLength(content.length);
            for (int at = 0; at < content.length; at += PAGE) {
                int length = Math.min(PAGE, content.length - at);
                boolean any = false;
                for (int i = at; i < at + length; i++) {
                    any |= content[i] != 0;
                }
                if (any) {
                    raw.seek(at);
                    raw.write(content, at, length);
                }
            }
        }
        return file;
    }

    @Test
    void holesDoNotMatterAndEveryOctetDoes() throws Exception {
        long seed = System.nanoTime();
        var random = new Random(seed);
        Map<Hash, String> seen = new HashMap<>();
        for (int round = 0; round < 40; round++) {
            var content = new byte[random.nextInt(1 << 20) + 1];
            for (int i = random.nextInt(6); i > 0; i--) {
                int at = random.nextInt(content.length);
                int length = Math.min(content.length - at, 1 + random.nextInt(3 * PAGE));
                var some = new byte[length];
                random.nextBytes(some);
                System.arraycopy(some, 0, content, at, length);
            }
            Hash digest = PageDigest.of(file("plain-" + round, content, false));
            String where = "seed " + seed + ", round " + round;
            assertEquals(specified(content), digest, where);
            assertEquals(digest, PageDigest.of(file("sparse-" + round, content, true)), where);
            assertTrue(seen.put(digest, where) == null, where);
            content[random.nextInt(content.length)] ^= (byte) (1 + random.nextInt(255));
            assertTrue(seen.put(PageDigest.of(file("changed-" + round, content, false)), where) == null, where);
        }
    }

    @Test
    void zerosOfAnotherLengthAreOtherContent() throws Exception {
        assertEquals(specified(new byte[0]), PageDigest.of(file("empty", new byte[0], false)));
        var digests = new HashMap<Hash, Integer>();
        for (int length : new int[] {1, PAGE - 1, PAGE, PAGE + 1, 64 * PAGE}) {
            assertTrue(digests.put(PageDigest.of(file("zeros-" + length, new byte[length], true)), length) == null);
        }
    }
}
