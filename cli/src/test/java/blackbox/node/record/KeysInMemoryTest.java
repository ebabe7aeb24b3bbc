package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.MlDsaKey;
import blackbox.node.record.Installation.Ended;
import blackbox.node.record.Installation.Running;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What root finds in the memory of a recorder in the middle of a run, as a core would hold it: the octets
/// of keys that are in use, and no text, and no key file's content, of which they were made. `docs/KEYS.md`
/// says the same in words, and what else there is.
final class KeysInMemoryTest {
    private static final String PASSPHRASE = "correct-horse-battery-staple";
    private static final byte[] OCTET_STRING_OF_32 = {4, 32};

    @TempDir
    private Path folder;

    /// @param seed the 32 octets that it is made of
    private record Key(String name, byte[] seed) {}

    @Test
    void onlyTheOctetsOfKeysInUseAreThere() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root may read a recorder's memory");
        Installation blackbox = Installation.in(folder);
        Ended unused = recording(blackbox, Map.of(), "true").await().expect(0);
        var keys = new ArrayList<Key>();
        var texts = new LinkedHashMap<String, byte[]>();
        for (Path file : files(blackbox.data().resolve("keys"))) {
            String name = file.getFileName().toString();
            String text = Files.readString(file).strip();
            byte[] seed = name.contains("ml-dsa")
                    ? MlDsaKey.parse(text).seed()
                    : name.equals("payload.key")
                            ? HexFormat.of().parseHex(text.substring(text.lastIndexOf(' ') + 1))
                            : Ed25519Key.parse(text).seed();
            keys.add(new Key(name, seed));
            // As much of the file's text as belongs to the key alone.
            texts.put(
                    name + ", as its file has it",
                    text.substring(text.length() - 40).getBytes(StandardCharsets.US_ASCII));
        }
        assertEquals(4, keys.size(), keys::toString);
        for (Key key : keys) {
            texts.put(key.name() + ", in hexadecimal", ascii(HexFormat.of().formatHex(key.seed())));
            texts.put(
                    key.name() + ", in base64",
                    ascii(Base64.getEncoder().encodeToString(key.seed()).substring(0, 42)));
        }
        Found found = search(recording(blackbox, Map.of(), "echo begun; cat"), keys, texts);
        System.out.println("with plain key files: " + found.described());
        found.expectOnlyKeysInUse(texts);
    }

    @Test
    void whatAPassphraseOpenedIsThereAsOctetsOnly() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root may read a recorder's memory");
        Installation blackbox = Installation.in(folder);
        Path passphrase = Files.createFile(
                folder.resolve("passphrase"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(passphrase, PASSPHRASE + "\n");
        var with = Map.of("BLACKBOX_PASSPHRASE_FILE", passphrase.toString());
        Ended unused = recording(blackbox, with, "true").await().expect(0);
        var texts = new LinkedHashMap<String, byte[]>();
        Path keys = blackbox.data().resolve("keys");
        Path log = files(keys).stream()
                .filter(each -> each.getFileName().toString().matches("log-[0-9a-f]{8}\\.key"))
                .findFirst()
                .orElseThrow();
        byte[] der = opened(log, passphrase);
        byte[] seed = Arrays.copyOfRange(der, der.length - 32, der.length);
        // The DER is there: in that form the JDK takes a key.
        texts.put("the log's key, in hexadecimal", ascii(HexFormat.of().formatHex(seed)));
        texts.put(
                "the log's key, in base64",
                ascii(Base64.getEncoder().encodeToString(seed).substring(0, 42)));
        Found found =
                search(recording(blackbox, with, "echo begun; cat"), List.of(new Key(log.toString(), seed)), texts);
        System.out.println("with a passphrase: " + found.described());
        found.expectOnlyKeysInUse(texts);
    }

    /// The PrivateKeyInfo in an encrypted key file, by another program than ours.
    private static byte[] opened(Path file, Path passphrase) throws Exception {
        Process openssl = new ProcessBuilder(
                        "openssl", "pkey", "-in", file.toString(), "-passin", "file:" + passphrase, "-outform", "DER")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        byte[] der = openssl.getInputStream().readAllBytes();
        assertEquals(0, openssl.waitFor());
        int at = der.length - 34;
        assertTrue(Arrays.equals(der, at, at + 2, OCTET_STRING_OF_32, 0, 2), "a seed of 32 octets");
        return der;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static List<Path> files(Path keys) throws Exception {
        try (var all = Files.list(keys)) {
            return all.filter(each -> each.toString().endsWith(".key")).sorted().toList();
        }
    }

    private static Running recording(Installation blackbox, Map<String, String> variables, String script)
            throws Exception {
        var builder = new ProcessBuilder(
                Installation.command("record", "--json", "--tier", "live", "--", "sh", "-c", script));
        builder.environment().putAll(variables);
        if (script.equals("true")) {
            builder.redirectInput(Path.of("/dev/null").toFile());
        }
        return blackbox.start(builder);
    }

    /// Searches the memory of a recorder whose agent has begun, and ends it.
    private static Found search(Running run, List<Key> keys, Map<String, byte[]> texts) throws Exception {
        var patterns = new LinkedHashMap<>(texts);
        keys.forEach(key -> patterns.put(key.name(), key.seed()));
        Map<String, Long> counts;
        try {
            run.awaitOutput();
            counts = new ProcessMemory(run.process().pid()).count(patterns);
        } finally {
            run.process().outputWriter().close();
        }
        Ended ended = run.await().expect(0);
        JsonNode recorded = ended.recorded();
        assertEquals("CLOSED", recorded.path("state").asText());
        return new Found(keys, counts);
    }

    /// How often each was found.
    private record Found(List<Key> keys, Map<String, Long> counts) {

        String described() {
            var said = new StringBuilder();
            counts.forEach((name, count) -> said.append(said.isEmpty() ? "" : "; ")
                    .append(name.substring(name.lastIndexOf('/') + 1))
                    .append(": ")
                    .append(count));
            return said.toString();
        }

        void expectOnlyKeysInUse(Map<String, byte[]> texts) {
            // The others may not be in use yet: their threads may still be starting.
            List<Key> logs = keys.stream()
                    .filter(key -> key.name().matches("(.*/)?log-[0-9a-f]{8}\\.key"))
                    .toList();
            assertEquals(1, logs.size(), keys::toString);
            assertTrue(
                    counts.getOrDefault(logs.getFirst().name(), 0L) > 0,
                    () -> "in use, so it is found where the search works: " + described());
            for (String text : texts.keySet()) {
                assertEquals(0L, counts.get(text), () -> "only needed to open a key: " + described());
            }
        }
    }
}
