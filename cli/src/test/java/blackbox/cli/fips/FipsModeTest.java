package blackbox.cli.fips;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.SignedNote;
import blackbox.files.Folders;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.LogKey;
import blackbox.recorder.keys.LogKeys;
import blackbox.recorder.keys.Secrets;
import blackbox.schemas.folder.DataFolder;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// FIPS mode in a JVM of its own: the build's own classes, with Bouncy Castle's FIPS edition on the class
/// path in place of the standard one.
class FipsModeTest {

    private static final String PASSPHRASE = "correct horse battery staple";

    @TempDir
    private Path folder;

    @Test
    void theSameCodeSignsWithApprovedAlgorithmsAlone() throws Exception {
        String mlDsa = keyOfTheStandardEdition();
        Said said = run(passphrase(PASSPHRASE), FipsSubject.class.getName(), made("fips"), made("standard"), mlDsa);
        assertEquals(0, said.exitCode(), said.err());
        Map<String, String> facts = said.facts();
        System.out.println("FIPS mode: " + facts);
        assertTrue(String.valueOf(facts.get("provider")).matches("BCFIPS .*approved-only mode"), facts::toString);
        assertEquals("BCFIPS", facts.get("sha256"));
        assertEquals("BCFIPS", facts.get("random"));
        assertEquals("1", facts.get("lines"), "no ML-DSA line");
        assertEquals("true", facts.get("opened again"));
        assertEquals("1", facts.get("lines of the standard edition's key"), "its ML-DSA line is left out");
        assertEquals("true", facts.get("signs with it"));
        assertEquals("true", facts.get("ecdsa"));
        assertTrue(
                String.valueOf(facts.get("makes ML-DSA")).startsWith("no: FIPS mode has no ML-DSA-44"),
                facts::toString);
        assertTrue(String.valueOf(facts.get("reads ML-DSA")).contains("FIPS mode has no ML-DSA-44"), facts::toString);
        assertEquals("-----BEGIN ENCRYPTED PRIVATE KEY-----", facts.get("payload key"));
        var payloads = FipsSubject.vault(new DataFolder(folder.resolve("payloads")));
        assertEquals(List.of(), payloads.unencrypted(FipsSubject.RUN));
        try (InputStream in = payloads.stream(FipsSubject.RUN, "stdin")) {
            assertEquals(FipsSubject.PAYLOAD, new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
        try (LogKey key = LogKeys.load(folder.resolve("fips"), access())) {
            SignedNote note = SignedNote.parse(Files.readString(folder.resolve("fips/note")));
            assertNotNull(note);
            assertNotNull(note.signedBy(List.of(key.first().verifier())), "the standard edition opens and verifies it");
        }
    }

    @Test
    void aPassphraseThatIsTooShortToBeApprovedIsRefused() throws Exception {
        Said said = run(passphrase("short"), "blackbox.cli.Main", "keys", "create", "--data", made("data"));
        assertEquals(3, said.exitCode(), said.err());
        assertTrue(said.err().contains("passphrase") && said.err().contains("112 bits"), said.err());
    }

    @Test
    void keysShowSaysWhatFipsModeLeavesOut() throws Exception {
        keyOfTheStandardEdition();
        Folders.createPrivate(folder.resolve("data"));
        Files.move(folder.resolve("standard"), folder.resolve("data/keys"));
        Said said = run(passphrase(PASSPHRASE), "blackbox.cli.Main", "keys", "show", "--data", made("data"));
        assertEquals(0, said.exitCode(), said.err());
        assertTrue(said.out().contains("FIPS mode"), said.out());
        assertTrue(said.out().contains("left out     ML-DSA"), said.out());
    }

    /// @return the verifier key of its ML-DSA line
    private String keyOfTheStandardEdition() throws Exception {
        try (LogKey key = LogKeys.loadOrCreate(folder.resolve("standard"), access())) {
            return key.conf().keys().get(1);
        }
    }

    private KeyAccess access() throws IOException {
        return new KeyAccess(
                InstantSource.system(),
                new SecureRandom(),
                Secrets.of(Map.of(Secrets.PASSPHRASE, passphrase(PASSPHRASE).toString()), null));
    }

    private Path passphrase(String text) throws IOException {
        Path file = folder.resolve("passphrase");
        Files.writeString(file, text + "\n");
        return file;
    }

    private String made(String name) {
        return folder.resolve(name).toString();
    }

    private record Said(int exitCode, String out, String err) {
        Map<String, String> facts() {
            var facts = new LinkedHashMap<String, String>();
            out.lines().map(line -> line.split("\t", 2)).forEach(line -> facts.put(line[0], line[1]));
            return facts;
        }
    }

    private Said run(Path passphrase, String mainClass, String... arguments) throws IOException, InterruptedException {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of("-Dblackbox.fips=true", "--enable-native-access=ALL-UNNAMED", "-cp", classPath(), mainClass));
        command.addAll(List.of(arguments));
        var builder =
                new ProcessBuilder(command).redirectError(folder.resolve("err").toFile());
        builder.environment().put(Secrets.PASSPHRASE, passphrase.toString());
        Process process = builder.start();
        process.getOutputStream().close();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Said(process.waitFor(), out, Files.readString(folder.resolve("err")));
    }

    /// This JVM's class path, with one edition in place of the other.
    private static String classPath() throws IOException {
        List<String> own = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(entry -> !Path.of(entry).getFileName().toString().matches("bc.*-jdk18on-.*"))
                .toList();
        try (Stream<Path> fips = Files.list(Path.of("target", "lib-fips"))) {
            List<String> jars = fips.map(Path::toString).toList();
            assertEquals(3, jars.size(), jars::toString);
            assertFalse(own.isEmpty());
            return Stream.concat(jars.stream(), own.stream()).collect(Collectors.joining(File.pathSeparator));
        }
    }
}
