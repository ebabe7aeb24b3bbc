package blackbox.verifier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.bundle.BundleWriter;
import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.store.Recordings;
import blackbox.ingest.parquet.EventFile;
import blackbox.ingest.parquet.RowGroup;
import blackbox.recorder.seal.RunSealer;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Text;
import blackbox.schemas.table.DataFileName;
import blackbox.schemas.table.FileSeal;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The jar as it is handed out, started as a process of its own.
class VerifierJarTest {

    private static final Path JAR = Path.of(System.getProperty("blackbox.verifier.jar", ""));
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();
    private static final long BYTES_MAX = 5 << 20;

    /// The classes that open connections in Java.
    private static final Pattern NETWORK = Pattern.compile("java\\.net\\.(Datagram|Multicast|Server)?Socket.*"
            + "|java\\.net\\.(Http|Jar)?URLConnection|java\\.net\\.http\\..*|javax\\.net\\..*|com\\.sun\\.net\\..*"
            + "|java\\.nio\\.channels\\.(Asynchronous|Server)*SocketChannel|java\\.nio\\.channels\\.DatagramChannel");

    private static final Pattern STRANGERS =
            Pattern.compile("org\\.(apache|duckdb|sqlite)\\..*|io\\.(micronaut|netty)\\..*"
                    + "|com\\.fasterxml\\.jackson\\.databind\\..*|com\\.sun\\.jna\\..*"
                    + "|blackbox\\.(recorder|ingest|vm|query|replay|node|cli)\\..*");

    @TempDir
    private Path folder;

    private final Ed25519Key key = Ed25519Key.create("blackbox/recorder", new SecureRandom());

    private record Outcome(int exit, String out, String err) {}

    private Outcome start(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(JAVA, "-jar", JAR.toString()));
        command.addAll(List.of(arguments));
        return run(command);
    }

    private Outcome run(List<String> command) throws Exception {
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        Process process = new ProcessBuilder(command)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        return new Outcome(process.waitFor(), Files.readString(out), Files.readString(err));
    }

    /// Java 11 reads class files up to this version; the JVM loads the class that the manifest names and no
    /// other.
    private static final int JAVA_11 = 55;

    @Test
    void anOlderJavaIsToldWhatIsNeeded() throws Exception {
        try (var jar = new JarFile(JAR.toFile())) {
            String main = jar.getManifest().getMainAttributes().getValue("Main-Class");
            var start = jar.getEntry(main.replace('.', '/') + ".class");
            try (var in = new DataInputStream(jar.getInputStream(start))) {
                in.skipNBytes(6);
                assertTrue(in.readUnsignedShort() <= JAVA_11);
            }
        }
        for (Path each : older()) {
            Outcome outcome = run(List.of(each.toString(), "-jar", JAR.toString(), "--help"));
            assertEquals(3, outcome.exit, outcome::toString);
            assertTrue(outcome.err.contains("Java 25 or later is needed"), outcome::toString);
            assertEquals(1, outcome.err.lines().count(), outcome::toString);
        }
    }

    /// An older Java on this machine, such as the one that Debian's Maven depends on.
    private static List<Path> older() throws IOException {
        Path all = Path.of("/usr/lib/jvm");
        if (!Files.isDirectory(all)) {
            return List.of();
        }
        try (Stream<Path> each = Files.list(all)) {
            return each.filter(home -> home.getFileName().toString().matches("java-(11|17|21)-openjdk.*"))
                    .map(home -> home.resolve("bin/java"))
                    .filter(Files::isExecutable)
                    .toList();
        }
    }

    @Test
    void verifiesARunAndSaysNothingElse() throws Exception {
        String run = record();
        Outcome outcome = start("--data", folder.toString(), run, "--json");
        assertEquals(new Outcome(0, outcome.out, ""), outcome);
        assertTrue(outcome.out.startsWith("{\"integrity\":\"VERIFIED\",\"completeness\":\"COMPLETE\""), outcome.out);
    }

    @Test
    void aChangedDataFileIsExitOne() throws Exception {
        String run = record();
        Path data = folder.resolve("warehouse/blackbox/events/data/run=" + run);
        try (var files = Files.list(data)) {
            Path file = files.filter(name -> name.toString().endsWith(".parquet"))
                    .findFirst()
                    .orElseThrow();
            byte[] octets = Files.readAllBytes(file);
            octets[octets.length / 2] ^= 1;
            Files.write(file, octets);
        }
        Outcome outcome = start("--data", folder.toString(), "last");
        assertEquals(1, outcome.exit, outcome.out + outcome.err);
        assertTrue(outcome.out.contains("integrity     TAMPERED"), outcome.out);
    }

    /// As an auditor runs it: another user, no network, no data folder; only the jar, the bundle and a key.
    @Test
    void verifiesABundleAsAnotherUserWithoutNetwork() throws Exception {
        Path bundle = bundle();
        Files.copy(JAR, folder.resolve("verifier.jar"));
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        boolean root = "root".equals(System.getProperty("user.name"));
        List<String> command = new ArrayList<>(List.of("unshare", root ? "-n" : "-rn"));
        if (root) {
            command.addAll(List.of("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"));
        }
        command.addAll(List.of(JAVA, "-jar", folder.resolve("verifier.jar").toString()));
        command.addAll(
                List.of("--json", "--key", folder.resolve("keys/recorder.pub").toString(), bundle.toString()));
        Outcome outcome = run(command);
        assertEquals(new Outcome(0, outcome.out, ""), outcome);
        assertTrue(outcome.out.startsWith("{\"integrity\":\"VERIFIED\""), outcome.out);
        assertTrue(outcome.out.contains("\"trusted\":true"), outcome.out);
    }

    @Test
    void aChangedBundleIsExitOne() throws Exception {
        Path bundle = bundle();
        byte[] octets = Files.readAllBytes(bundle);
        String key = folder.resolve("keys/recorder.pub").toString();
        for (int i = 0; i < octets.length; i += octets.length / 8) {
            byte[] changed = octets.clone();
            changed[i] ^= 1;
            Files.write(bundle, changed);
            Outcome outcome = start("--key", key, bundle.toString());
            assertEquals(1, outcome.exit, i + ": " + outcome.err);
            assertTrue(outcome.out.contains("integrity     TAMPERED"), outcome.out);
        }
    }

    @Test
    void withoutAKeyABundlesAuthorIsNotTrusted() throws Exception {
        Outcome outcome = start("--json", bundle().toString());
        assertEquals(0, outcome.exit, outcome.out + outcome.err);
        assertTrue(outcome.out.contains("\"trusted\":false"), outcome.out);
        Outcome required = start("--json", "--require", "complete,trusted", bundle().toString());
        assertEquals(1, required.exit, required.out + required.err);
        assertTrue(required.out.contains("\"unmet\":[\"trusted\"]"), required.out);
        assertEquals(2, start("--require", "everything", "x").exit);
    }

    /// With a time stamp over other data as well: the code that checks time stamps is in the jar, and refuses
    /// it.
    @Test
    void verifiesAProof() throws Exception {
        Path proofs = Path.of("../evidence/src/test/resources/proof/v1");
        Path stamps = Path.of("../evidence/src/test/resources/blackbox/evidence/time");
        String key = proofs.resolve("log.pub").toString();
        Outcome outcome = start("--key", key, proofs.resolve("event.json").toString());
        assertEquals(new Outcome(0, outcome.out, ""), outcome);
        String token = Base64.getEncoder().encodeToString(Files.readAllBytes(stamps.resolve("openssl.tsr")));
        String text = Files.readString(proofs.resolve("event.json"));
        String stamped = text.replaceFirst("\"timeTokens\" : \\[ *]", "\"timeTokens\" : [\"" + token + "\"]");
        assertNotEquals(text, stamped);
        Path proof = Files.writeString(folder.resolve("proof.json"), stamped);
        String authority = stamps.resolve("openssl-root.pem").toString();
        Outcome other = start("--key", key, "--time-authority", authority, proof.toString());
        assertEquals("", other.err);
        assertTrue(other.out.contains("time stamp"), other.out);
        assertTrue(other.out.contains("HOST_CLOCK"), other.out);
    }

    private Path bundle() throws Exception {
        String run = record();
        Path bundle = folder.resolve("evidence.zip");
        BundleWriter.write(Recordings.unchecked(folder), new RunId(run), key, bundle);
        return bundle;
    }

    @Test
    void badInputIsExitTwoAndAnswersHelp() throws Exception {
        assertEquals(2, start("--data", folder.toString(), "nothing").exit);
        assertEquals(2, start(folder.resolve("nothing").toString()).exit);
        assertEquals(2, start("--no-such-option").exit);
        Outcome help = start("--help");
        assertEquals(0, help.exit);
        assertTrue(help.out.contains("Examples:"), help.out);
        assertTrue(start("--version").out.startsWith("blackbox-verifier "));
    }

    /// A tile of 900 MB does not fit into this heap; it has holes.
    @Test
    void aTileThatIsTooLongIsExitOneAndIsNotRead() throws Exception {
        String run = record();
        Path log = Files.createDirectories(folder.resolve("log"));
        var checkpoint = new Checkpoint("blackbox/recorder", 1, Hash.sha256(new byte[0]));
        Files.writeString(log.resolve(TilePath.CHECKPOINT), SignedNote.sign(checkpoint.text(), key));
        Path tile = log.resolve(TilePath.entries(0, 1).path());
        Files.createDirectories(tile.resolveSibling("."));
        lengthen(tile, 900_000_000);
        Outcome outcome = run(List.of(JAVA, "-Xmx64m", "-jar", JAR.toString(), "--data", folder.toString(), run));
        assertEquals(1, outcome.exit, outcome::toString);
        assertEquals("", outcome.err);
        assertTrue(outcome.out.contains("is longer than the 65537 octets that are read"), outcome.out);
    }

    private static void lengthen(Path file, long bytes) throws IOException {
        try (var raw = new RandomAccessFile(file.toFile(), "rw")) {
            raw.setLength(bytes);
        }
    }

    /// Certificates as long as they may be, in a heap of that size.
    @Test
    void tooLittleMemoryIsExitThreeWhichIsNoVerdict() throws Exception {
        Path certificates = folder.resolve("certificates.pem");
        lengthen(certificates, 16 << 20);
        Outcome outcome = run(List.of(
                JAVA,
                "-Xmx16m",
                "-jar",
                JAR.toString(),
                "--time-authority",
                certificates.toString(),
                bundle().toString()));
        assertEquals(3, outcome.exit, outcome::toString);
        assertEquals("", outcome.out);
        assertTrue(outcome.err.contains("takes more memory"), outcome.err);
    }

    @Test
    void aFileThatTheUserNamedAndThatIsTooLongIsExitTwo() throws Exception {
        Path key = folder.resolve("long.pub");
        lengthen(key, 3L << 30);
        Outcome outcome = start("--key", key.toString(), bundle().toString());
        assertEquals(2, outcome.exit, outcome::toString);
    }

    @Test
    void aJarThatIsNotWholeIsExitThree() throws Exception {
        Path classes = folder.resolve("classes");
        try (var jar = new JarFile(JAR.toFile());
                var start = jar.getInputStream(jar.getEntry("blackbox/verifier/Start.class"))) {
            Path file = classes.resolve("blackbox/verifier/Start.class");
            Files.createDirectories(file.resolveSibling("."));
            Files.copy(start, file);
        }
        Outcome outcome = run(List.of(JAVA, "-cp", classes.toString(), "blackbox.verifier.Start", "--help"));
        assertEquals(3, outcome.exit, outcome::toString);
    }

    @Test
    void isSmallAndHoldsNoNetworkNoBrokerAndNoQueryEngine() throws IOException {
        assertTrue(Files.size(JAR) <= BYTES_MAX, () -> JAR + " is too large");
        try (var jar = new JarFile(JAR.toFile())) {
            JavaClasses classes = new ClassFileImporter().importJar(jar);
            var found = new TreeSet<String>();
            for (var type : classes) {
                if (STRANGERS.matcher(type.getName()).matches()) {
                    found.add(type.getName());
                }
                for (Dependency use : type.getDirectDependenciesFromSelf()) {
                    if (NETWORK.matcher(use.getTargetClass().getName()).matches()) {
                        found.add(use.getDescription());
                    }
                }
            }
            assertTrue(classes.contain("blackbox.evidence.verify.RunVerifier"));
            assertEquals(new TreeSet<String>(), found);
        }
    }

    /// A closed run of a few events with its sealed file and its key.
    private String record() throws Exception {
        var random = new SecureRandom();
        RunId run = RunId.create(Instant.now(), random);
        var batches = new ArrayList<SealedBatch>();
        var sealer = new RunSealer(run, key, batches::add, InstantSource.system());
        sealer.append(new Event.RunOpen(EventHeader.host(1), Text.of("test"), "{}"));
        sealer.seal();
        var origin = new GuestOrigin(0, 1);
        sealer.append(new Event.TracerHeartbeat(
                new EventHeader(2, Source.GUEST, origin, null, Marks.NONE), "{\"final\":true}"));
        sealer.append(new Event.RunClose(EventHeader.host(2), sealer.size(), 0, 0, null, null));
        sealer.seal();
        Path keys = Files.createDirectories(folder.resolve("keys"));
        Files.writeString(keys.resolve("recorder.pub"), key.verifier().encoded() + "\n");
        Path data = Files.createDirectories(folder.resolve("warehouse/blackbox/events/data/run=" + run));
        var name = new DataFileName(0, batches.getLast().endIndex(), "00000000");
        Path file = data.resolve(name.toString());
        try (var out = new EventFile(file, 1)) {
            var group = new RowGroup(run, 1);
            for (SealedBatch batch : batches) {
                LeafCursor leaves = batch.leaves();
                for (long index = batch.firstIndex(); leaves.next(); index++) {
                    String checkpoint = index == batch.endIndex() - 1 ? batch.checkpoint() : null;
                    group.append(index, leaves.array(), leaves.offset(), leaves.length(), checkpoint);
                }
            }
            out.write(group);
            Hash sha256 = out.finish("").sha256();
            var seal = new FileSeal(run, name, name.endIndex(), Files.size(file), sha256);
            Files.write(
                    data.resolve(name.sealName()),
                    SignedNote.sign(seal.text(), key).getBytes(StandardCharsets.UTF_8));
        }
        return run.value();
    }
}
