package blackbox.cli.argv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.OctetText;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class GivenArgumentsTest {

    private static byte[] octets(int... values) {
        var octets = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            octets[i] = (byte) values[i];
        }
        return octets;
    }

    private static byte[] cmdline(byte[]... words) {
        var all = new ByteArrayOutputStream();
        for (byte[] word : words) {
            all.writeBytes(word);
            all.write(0);
        }
        return all.toByteArray();
    }

    @Test
    void everyOctetComesBack() {
        var all = new byte[255];
        for (int i = 0; i < all.length; i++) {
            all[i] = (byte) (i + 1);
        }
        assertArrayEquals(all, OctetText.octets(OctetText.of(all)));
        assertFalse(OctetText.isText(OctetText.of(all)));
    }

    @Test
    void anyOctetsComeBack() {
        long seed = System.nanoTime();
        var random = new Random(seed);
        // Mostly octets that begin, continue or cut off a character.
        int[] likely = {'a', 0x7f, 0x80, 0xbf, 0xc3, 0xe0, 0xa0, 0xed, 0xb2, 0xf0, 0x9f, 0x98, 0x80, 0xf4, 0x90, 0xff};
        for (int round = 0; round < 20_000; round++) {
            var octets = new byte[random.nextInt(12)];
            for (int i = 0; i < octets.length; i++) {
                octets[i] = (byte) likely[random.nextInt(likely.length)];
            }
            assertArrayEquals(octets, OctetText.octets(OctetText.of(octets)), "seed " + seed + ", round " + round);
        }
    }

    @Test
    void textStaysText() {
        String text = "ü漢😀 \ufffd";
        assertEquals(text, OctetText.of(text.getBytes(StandardCharsets.UTF_8)));
        assertTrue(OctetText.isText(text));
    }

    @Test
    void anEncodedSurrogateIsNotText() {
        // What U+DC80 would be, were it a character: it must not be mixed up with an escaped octet.
        byte[] encoded = octets(0xed, 0xb2, 0x80);
        assertEquals("\udced\udcb2\udc80", OctetText.of(encoded));
        assertArrayEquals(encoded, OctetText.octets(OctetText.of(encoded)));
        assertEquals("a\ufffd", OctetText.shown("a\udc80"));
    }

    @Test
    void theLastWordsAreTheArguments() throws IOException {
        byte[] cmdline = cmdline(
                "java".getBytes(StandardCharsets.US_ASCII),
                "-jar".getBytes(StandardCharsets.US_ASCII),
                "record".getBytes(StandardCharsets.US_ASCII),
                octets(),
                octets('a', 0xff));
        String[] given = GivenArguments.of(new String[] {"record", "", "a?"}, cmdline);
        assertArrayEquals(new String[] {"record", "", "a\udcff"}, given);
    }

    @Test
    void argumentsThatDifferAreRefused() {
        byte[] cmdline = cmdline("java".getBytes(StandardCharsets.US_ASCII), "one".getBytes(StandardCharsets.US_ASCII));
        assertThrows(IOException.class, () -> GivenArguments.of(new String[] {"two"}, cmdline));
        assertThrows(IOException.class, () -> GivenArguments.of(new String[] {"a", "b", "c"}, cmdline));
    }
}
