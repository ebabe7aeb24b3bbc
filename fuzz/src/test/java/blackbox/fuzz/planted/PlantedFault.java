package blackbox.fuzz.planted;

import blackbox.fuzz.FuzzTarget;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/// A parser with a fault that only guided mutation finds: by it the fuzzer itself is tested.
public final class PlantedFault {
    /// The target.
    public static final FuzzTarget TARGET =
            FuzzTarget.of("planted-fault", 64, PlantedFault::accepts, () -> Map.of("short", octets("BB")));

    private PlantedFault() {}

    private static boolean accepts(byte[] input) {
        String text = new String(input, StandardCharsets.ISO_8859_1);
        if (text.startsWith("BBX1") && text.length() > 5 && text.charAt(4) == '~') {
            throw new IllegalStateException("the planted fault");
        }
        return text.startsWith("BB");
    }

    private static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
