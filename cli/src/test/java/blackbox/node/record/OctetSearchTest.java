package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// The search that others rely on to find nothing.
class OctetSearchTest {

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /// Also across the pieces in which the stream is read, at their ends and at its own.
    @Test
    void eachIsFoundWhereverItIsAndOnce() throws Exception {
        int size = (8 << 20) + 7;
        var random = new Random(20_261_130);
        byte[] secret = bytes("s\0k\0-\0secret");
        for (int border : new int[] {4 << 20, 8 << 20, size, secret.length}) {
            for (int before = 0; before <= secret.length; before++) {
                int at = Math.min(border - before, size - secret.length);
                var octets = new byte[size];
                random.nextBytes(octets);
                System.arraycopy(secret, 0, octets, at, secret.length);
                var found = new OctetSearch(Map.of(
                                "it", secret, "its end", Arrays.copyOfRange(secret, 6, 12), "no", bytes("nowhere")))
                        .in(new ByteArrayInputStream(octets));
                assertEquals(size, found.octets());
                assertEquals(Map.of("it", 1L, "its end", 1L, "no", 0L), found.counts(), "at " + at);
            }
        }
    }

    @Test
    void whatOverlapsIsCountedEachTime() throws Exception {
        var search = new OctetSearch(Map.of("aa", bytes("aa"), "aab", bytes("aab")));
        assertEquals(
                Map.of("aa", 3L, "aab", 1L),
                search.in(new ByteArrayInputStream(bytes("aaaab"))).counts());
        assertEquals(
                Map.of("aa", 0L, "aab", 0L),
                search.in(new ByteArrayInputStream(bytes("a"))).counts());
    }
}
