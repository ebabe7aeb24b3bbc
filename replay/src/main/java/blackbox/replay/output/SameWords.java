package blackbox.replay.output;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/// Whether two streams have the same words, in whatever order.
public final class SameWords {
    private static final int OCTETS_MAX = 1 << 20;

    private SameWords() {}

    /// Compares them whole; false if either is longer than a mebibyte.
    public static boolean in(InputStream one, InputStream other) throws IOException {
        byte[] octets = one.readNBytes(OCTETS_MAX);
        byte[] others = other.readNBytes(OCTETS_MAX);
        return octets.length == others.length
                && octets.length < OCTETS_MAX
                && words(octets).equals(words(others));
    }

    private static Map<String, Integer> words(byte[] octets) {
        var words = new HashMap<String, Integer>();
        for (String word : new String(octets, StandardCharsets.ISO_8859_1).split("\\s+")) {
            words.merge(word, 1, Integer::sum);
        }
        return words;
    }
}
