package blackbox.recorder.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A SoftHSM2 token of our own, made when it is first asked for. Its folder is the one that the build names
/// in `SOFTHSM2_CONF`, below `target`.
final class TestToken implements TestStore {

    static final String MODULE = "/usr/lib/softhsm/libsofthsm2.so";

    private static final String PIN = "246810";
    private static final Pattern SLOT = Pattern.compile("slot (\\d+)");

    /// One for the whole JVM: the library lists its slots once.
    private static String slot = "";

    @Override
    public StoreKind kind() {
        return StoreKind.PKCS11;
    }

    @Override
    public SequencedMap<String, String> settings() {
        var settings = new LinkedHashMap<String, String>();
        settings.put(Pkcs11KeyStore.MODULE, MODULE);
        settings.put(Pkcs11KeyStore.SLOT, slot());
        return settings;
    }

    @Override
    public Secrets secrets() {
        return TestStore.given(Map.of(Secrets.PIN, PIN));
    }

    private static synchronized String slot() {
        try {
            slot = slot.isEmpty() ? initialise() : slot;
            return slot;
        } catch (IOException | InterruptedException e) {
            throw new UncheckedIOException(new IOException("SoftHSM2 (Debian package softhsm2) is needed: " + e, e));
        }
    }

    private static String initialise() throws IOException, InterruptedException {
        String conf = System.getenv("SOFTHSM2_CONF");
        assertNotNull(conf, "the build sets SOFTHSM2_CONF");
        Path tokens = Path.of(conf).resolveSibling("tokens");
        Files.createDirectories(tokens);
        Files.writeString(Path.of(conf), "directories.tokendir = " + tokens + "\nlog.level = ERROR\n");
        Process made = new ProcessBuilder(
                        "softhsm2-util",
                        "--init-token",
                        "--free",
                        "--label",
                        "blackbox-test",
                        "--pin",
                        PIN,
                        "--so-pin",
                        "13579")
                .redirectErrorStream(true)
                .start();
        String said = new String(made.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, made.waitFor(), said);
        Matcher matcher = SLOT.matcher(said.substring(said.indexOf("reassigned")));
        assertEquals(true, matcher.find(), said);
        return matcher.group(1);
    }

    @Override
    public String toString() {
        return "PKCS#11 (SoftHSM2)";
    }
}
