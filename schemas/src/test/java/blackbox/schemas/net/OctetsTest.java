package blackbox.schemas.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OctetsTest {

    /// The example of RFC 1071, section 3.
    @Test
    void theExampleOfTheStandard() {
        byte[] octets = {0x00, 0x01, (byte) 0xf2, 0x03, (byte) 0xf4, (byte) 0xf5, (byte) 0xf6, (byte) 0xf7};
        assertEquals(~0xddf2 & 0xffff, Octets.checksum(Octets.sum(octets, 0, octets.length, 0)));
    }

    @Test
    void theChecksumIsThatOfWordsOf16Bits() {
        var random = new Random(1_071);
        var octets = new byte[300];
        for (int round = 0; round < 10_000; round++) {
            random.nextBytes(octets);
            if (round % 3 == 0) {
                Arrays.fill(octets, (byte) (round % 2 == 0 ? 0xff : 0));
            }
            int from = random.nextInt(40);
            int to = from + random.nextInt(260);
            long seed = random.nextInt(1 << 20);
            assertEquals(
                    Octets.checksum(words(octets, from, to, seed)),
                    Octets.checksum(Octets.sum(octets, from, to, seed)),
                    from + " to " + to);
        }
    }

    private static long words(byte[] octets, int from, int to, long sum) {
        long total = sum;
        for (int at = from; at < to; at += 2) {
            total += Octets.u8(octets, at) << 8 | (at + 1 < to ? Octets.u8(octets, at + 1) : 0);
        }
        return total;
    }
}
