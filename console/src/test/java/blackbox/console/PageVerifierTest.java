package blackbox.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.bundle.BundleVerifier;
import blackbox.evidence.bundle.BundleWriter;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.parquet.ForgedFooter;
import blackbox.evidence.sign.EcdsaVerifier;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.trust.KeyStatement;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.Verification.Completeness;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.row.Text;
import blackbox.schemas.table.DataFileName;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The page's verifier shares no line with the one in Java. Both get the same bundles, whole and attacked, and must not
/// contradict each other.
class PageVerifierTest {
    private static final int FLIPS = 400;
    private static final int SEALED_FLIPS = 120;
    private static final long SEED = 20261129;

    @TempDir
    private Path folder;

    private final List<Subject> subjects = new ArrayList<>();

    /// A bundle, and the key of its log of runs.
    private record Subject(String name, Path bundle, NoteVerifier key) {
        Verification inJava() throws IOException {
            return BundleVerifier.verify(bundle, List.of(key), AnchorTrust.none());
        }
    }

    /// What both say of a bundle.
    private record Said(String name, Verification java, JsonNode page) {
        String verdict() {
            return page.path("verdict").asText();
        }

        @Override
        public String toString() {
            return name + ": Java says " + java.integrity() + " " + java.findings() + ", the page " + page;
        }
    }

    /// Prepares a data folder and writes its bundle.
    @FunctionalInterface
    private interface Case {
        void make(Bundles bundles) throws Exception;
    }

    private void add(String name, Case made) throws Exception {
        var each = new Bundles(folder.resolve("data-" + subjects.size()));
        made.make(each);
        add(name, each.writeTo(folder.resolve(subjects.size() + ".zip")), each.log.key.verifier());
    }

    private void add(String name, Path bundle, NoteVerifier key) {
        subjects.add(new Subject(name, bundle, key));
    }

    /// What both say of each bundle; the page by the bundle's own keys.
    private List<Said> said() throws Exception {
        List<JsonNode> reports =
                Npm.script("verify.mjs", subjects.stream().map(Subject::bundle).toList());
        var said = new ArrayList<Said>();
        for (Subject each : subjects) {
            said.add(new Said(each.name, each.inJava(), reports.get(said.size())));
        }
        return said;
    }

    @Test
    void wholeRunsHoldInBoth() throws Exception {
        add("in two files of both kinds of pages", _ -> {});
        add("with text that is not UTF-8", whole -> {
            TestRun run = again(
                    whole,
                    run2 -> run2.add(new Event.FileOpen(
                            new TestEvents(run2).guest(50, 1, "cc"),
                            Text.copyOf(new byte[] {(byte) 47, (byte) 0xff, 120}, 0, 3),
                            0,
                            null,
                            false,
                            3)));
            run.table();
        });
        var direct = new TestRun(folder.resolve("direct"));
        TestEvents.smallBuild(direct, 3).table();
        Path zip = folder.resolve("direct.zip");
        BundleWriter.write(Recordings.unchecked(direct.data), direct.run, direct.key, zip);
        add("without a log of runs", zip, direct.key.verifier());

        for (Said each : said()) {
            assertTrue(each.java.holds(), each::toString);
            assertEquals("VERIFIED", each.verdict(), each::toString);
            assertEquals(each.java.events(), each.page.path("events").asLong(), each.name);
            assertEquals(each.java.checkpoints(), each.page.path("checkpoints").asLong(), each.name);
            assertEquals(List.of(), Npm.texts(each.page.path("findings")), each.name);
        }
    }

    /// Another history of the same run, with the recorder's keys, in the place of the one in the table.
    private static TestRun again(Bundles whole, More more) throws Exception {
        try (var old = Files.list(whole.run.dataFolder())) {
            for (Path file : old.toList()) {
                Files.delete(file);
            }
        }
        TestRun run = TestRun.certified(whole.data, whole.log, whole.run.run);
        run.epochs.clear();
        run.epochs.addAll(whole.run.epochs);
        whole.log.entries.subList(2, whole.log.entries.size()).clear();
        run.open("build", run.certificate(whole.log.key));
        more.add(run);
        run.close(0);
        fresh(whole);
        return run;
    }

    @FunctionalInterface
    private interface More {
        void add(TestRun run) throws Exception;
    }

    /// Writes the log of runs anew from its first leaf.
    private static void fresh(Bundles whole) throws Exception {
        Path log = whole.data.resolve("log");
        deleteAll(log);
        var written = new TestLog(log);
        written.entries.addAll(whole.log.entries);
        written.signers = whole.log.signers;
        written.publish();
    }

    private static void deleteAll(Path folder) throws Exception {
        try (var files = Files.walk(folder)) {
            for (Path each : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }

    /// Each with a valid statement over what is there: whoever exports may lie.
    @Test
    void whatJavaFindsThePageFinds() throws Exception {
        add("the last file is missing", whole -> delete(whole, 3, ""));
        add("the last file and its seal are missing", whole -> {
            delete(whole, 3, "");
            delete(whole, 3, ".seal");
        });
        add("the first file is missing", whole -> delete(whole, 0, ""));
        add("a seal is missing", whole -> delete(whole, 0, ".seal"));
        add("a seal by a stranger", whole -> {
            Path file = file(whole, 0);
            whole.run.sealFile(file, name(file), Ed25519Key.create("blackbox/ingest", new SecureRandom()));
        });
        add("two files with each other's content", whole -> {
            Path first = file(whole, 0);
            Path last = file(whole, 3);
            byte[] octets = Files.readAllBytes(first);
            Files.write(first, Files.readAllBytes(last));
            Files.write(last, octets);
            whole.run.sealFile(first, name(first), whole.log.ingest);
            whole.run.sealFile(last, name(last), whole.log.ingest);
        });
        add("another history, sealed with the same keys", whole -> {
            List<byte[]> logged = List.copyOf(whole.log.entries);
            TestRun run = again(
                    whole, other -> other.add(new Event.VmLifecycle(EventHeader.host(other.tick()), "RESET", null)));
            run.table();
            whole.log.entries.clear();
            whole.log.entries.addAll(logged);
            fresh(whole);
        });
        add("an event behind the close", whole -> {
            TestRun run = again(whole, _ -> {});
            run.add(new Event.VmLifecycle(EventHeader.host(run.tick()), "RESET", null));
            run.seal();
            run.table();
        });
        add(
                "a back-dated event",
                whole -> again(
                                whole,
                                run -> run.add(new Event.VmLifecycle(
                                        EventHeader.host(TestRun.START_NS - 61_000_000_000L), "STOP", null)))
                        .table());
        add(
                "an event from after its epoch",
                whole -> again(
                                whole,
                                run -> run.add(new Event.VmLifecycle(
                                        EventHeader.host(TestRun.START_NS + 3_600_000_000_000L), "STOP", null)))
                        .table());
        add(
                "a heartbeat that goes back",
                whole -> again(whole, run -> {
                            run.seal();
                            run.at(TestRun.START_NS - 1_000_000_000L);
                            run.seal();
                            run.at(TestRun.START_NS + 9_000_000_000L);
                        })
                        .table());
        add("the log of runs is gone", whole -> deleteAll(whole.data.resolve("log")));
        add("the log of runs is another's", whole -> {
            deleteAll(whole.data.resolve("log"));
            new TestLog(whole.data.resolve("log")).begin().publish();
        });
        add("the log of runs does not know the run", whole -> {
            whole.log.entries.subList(2, whole.log.entries.size()).clear();
            fresh(whole);
        });
        add("the log of runs knows more of the run", whole -> {
            TestRun longer = new TestRun(folder.resolve("longer"), whole.run.run, whole.log.key);
            whole.log.add(TestEvents.smallBuild(longer, Bundles.BATCHES + 4)
                    .batches
                    .getLast()
                    .checkpoint());
            fresh(whole);
        });
        add("a certificate by another key", whole -> {
            TestRun run = again(whole, _ -> {});
            whole.log.entries.set(
                    2,
                    run.certificate(Ed25519Key.create(TestLog.ORIGIN, new SecureRandom()))
                            .getBytes(StandardCharsets.UTF_8));
            fresh(whole);
            run.table();
        });
        add("without its certificate", whole -> {
            again(whole, _ -> {});
            var direct = new TestRun(whole.data, whole.run.run, whole.log.key);
            TestEvents.smallBuild(direct, 2).table();
        });
        add("refused batches beside it", whole -> {
            Path refused = whole.data.resolve("quarantine/" + whole.run.run);
            Files.createDirectories(refused);
            Files.writeString(refused.resolve("000000000001-0123456789abcdef.batch"), "x");
        });
        add("its end in the spool", whole -> {
            delete(whole, 3, "");
            delete(whole, 3, ".seal");
            whole.run.spool(3, whole.run.batches.size());
        });

        var wrong = new ArrayList<Said>();
        for (Said each : said()) {
            String expected = each.java.integrity() == Integrity.TAMPERED
                    ? "TAMPERED"
                    : each.java.completeness() == Completeness.TRUNCATED ? "TRUNCATED" : "VERIFIED";
            // What the page cannot read, it says that it cannot judge.
            boolean beyond = each.name.contains("spool") || each.name.contains("refused");
            boolean silent = Npm.texts(each.page.path("findings")).isEmpty()
                    && Npm.texts(each.page.path("notes")).isEmpty();
            if (silent || !each.verdict().equals(beyond ? "UNCHECKED" : expected)) {
                wrong.add(each);
            }
        }
        assertEquals(List.of(), wrong);
    }

    @Test
    void aFlipOfAnyBitOfABundleIsFoundAndNamed() throws Exception {
        Path zip = new Bundles(folder.resolve("data")).writeTo(folder.resolve("run.zip"));
        assertEquals(List.of(), Npm.script("verify.mjs", List.of("--flips", FLIPS, SEED, zip)));
    }

    /// Whoever has ingest's key and the log's key can seal and state anything, but the events must lead to the roots
    /// that
    /// the recorder signed; and where the page says that they do, it shows what was signed and nothing else.
    @Test
    void aFlipUnderFreshSealsIsFoundOrShowsTheSame() throws Exception {
        var random = new Random(SEED);
        var forged = new Forged();
        for (int i = 0; i < SEALED_FLIPS; i++) {
            forged.add("flip " + i, file -> {
                byte[] octets = Files.readAllBytes(file);
                octets[random.nextInt(octets.length)] ^= (byte) (1 << random.nextInt(8));
                Files.write(file, octets);
            });
        }
        int found = showTheSame();
        assertTrue(found > SEALED_FLIPS / 3, found + " of " + SEALED_FLIPS + " found");
    }

    /// A reader that believed another type of a column would show what was not signed.
    @Test
    void footersThatLieAreFoundOrChangeNothing() throws Exception {
        var forged = new Forged();
        for (ForgedFooter.Lie lie : ForgedFooter.Lie.values()) {
            forged.add(lie.name(), file -> ForgedFooter.change(file, lie));
        }
        showTheSame();
    }

    /// A bundle of which data files are changed, sealed and stated anew; the first one is whole.
    private final class Forged {
        private final Bundles whole = new Bundles(folder.resolve("data"));
        private final Path bundle = whole.writeTo(Files.createDirectory(folder.resolve("bundle")));
        private final Path file = bundle.resolve(whole.data.relativize(file(whole, 0)));
        private final byte[] octets = Files.readAllBytes(file);

        Forged() throws Exception {
            add("whole", _ -> {});
        }

        void add(String name, Change change) throws Exception {
            Files.write(file, octets);
            change.make(file);
            whole.run.sealFile(file, name(file), whole.log.ingest);
            Path zip = whole.restated(bundle, folder.resolve(subjects.size() + ".zip"));
            PageVerifierTest.this.add(name, zip, whole.log.key.verifier());
        }
    }

    @FunctionalInterface
    private interface Change {
        void make(Path file) throws Exception;
    }

    /// How many the page finds; of the others it shows the same as of the first one.
    private int showTheSame() throws Exception {
        List<Said> all = said();
        Said whole = all.getFirst();
        assertEquals("VERIFIED", whole.verdict(), whole::toString);
        int found = 0;
        for (Said each : all) {
            if (each.verdict().equals("VERIFIED")) {
                assertEquals(whole.page.path("shown"), each.page.path("shown"), each::toString);
            } else {
                found++; // also where what was changed is something that the reader in Java does not look at
            }
        }
        return found;
    }

    @Test
    void whatIsBesideTheEventsIsHeldToThem() throws Exception {
        var whole = new Bundles(folder.resolve("data"));
        Path bundle = whole.writeTo(Files.createDirectory(folder.resolve("bundle")));
        String account = Files.readString(bundle.resolve("completeness.json"));
        String lost = account.replaceAll(".*\"lost\":(\\d+),\"lossKnown.*\n", "$1");
        var changes = new LinkedHashMap<String, Change>();
        for (String[] each : new String[][] {
            {"\"lost\":" + lost + ",\"lossKnown", "\"lost\":\"none at all\",\"lossKnown"},
            {"\"lost\":" + lost + ",\"lossKnown", "\"lossKnown"},
            {"\"declaredLost\":" + lost, "\"declaredLost\":" + lost + "1"},
            {"\"version\":2", "\"version\":1"},
            {"\"unknownBecause\":[]", "\"unknownBecause\":\"nothing\""},
            {"{", "{ "}
        }) {
            changes.put(
                    each[0] + " to " + each[1],
                    folder -> replace(folder.resolve("completeness.json"), each[0], each[1]));
        }
        changes.put(
                "a tile with more", folder -> append(folder.resolve("log/tile/0/000.p/" + whole.log.entries.size())));
        changes.put(
                "entries with more",
                folder -> append(folder.resolve("log/tile/entries/000.p/" + whole.log.entries.size())));
        changes.put("a seal without its file", folder -> {
            long end = whole.run.nextIndex();
            var name = new DataFileName(end, end + 5, "00000000");
            Path file = folder.resolve(whole.data.relativize(whole.run.dataFolder()))
                    .resolve(name.toString());
            Files.write(file, new byte[1]);
            whole.run.sealFile(file, name, whole.log.ingest);
            Files.delete(file);
        });
        for (Map.Entry<String, Change> each : changes.entrySet()) {
            Path copy = folder.resolve("copy-" + subjects.size());
            copy(bundle, copy);
            each.getValue().make(copy);
            add(
                    each.getKey(),
                    whole.restated(copy, folder.resolve(subjects.size() + ".zip")),
                    whole.log.key.verifier());
        }
        for (Said each : said()) {
            assertNotEquals("VERIFIED", each.verdict(), each::toString);
            boolean holds =
                    each.java.integrity() == Integrity.VERIFIED && each.java.completeness() != Completeness.TRUNCATED;
            assertFalse(holds, each::toString);
        }
    }

    private static void replace(Path file, String what, String by) throws IOException {
        String text = Files.readString(file);
        assertTrue(text.contains(what), () -> what + " is not in " + text);
        Files.writeString(file, text.replace(what, by));
    }

    private static void append(Path file) throws IOException {
        Files.write(file, new byte[3], StandardOpenOption.APPEND);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (var files = Files.walk(from)) {
            for (Path each : files.toList()) {
                Files.copy(each, to.resolve(from.relativize(each)));
            }
        }
    }

    /// A log of runs may be signed by a token or a TPM, whose keys are on P-256.
    @Test
    void keysOnP256Sign() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        KeyPair pair = generator.generateKeyPair();
        EcdsaVerifier key = EcdsaVerifier.of("blackbox/log/token", pair.getPublic());
        Path note = folder.resolve("note");
        Path pub = Files.writeString(folder.resolve("log.pub"), key.encoded());
        for (int round = 0; round < 8; round++) { // the length of a signature in DER varies
            var signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(pair.getPrivate());
            String text = "round " + round + "\n";
            signature.update(text.getBytes(StandardCharsets.UTF_8));
            byte[] signed = signature.sign();
            byte[] line = ByteBuffer.allocate(4 + signed.length)
                    .putInt(key.keyId())
                    .put(signed)
                    .array();
            String whole =
                    text + "\n\u2014 " + key.name() + " " + Base64.getEncoder().encodeToString(line) + "\n";
            Files.writeString(note, whole);
            assertTrue(isSigned(note, pub), whole);
            Files.writeString(note, whole.replace("round", "Round"));
            assertFalse(isSigned(note, pub), whole);
        }
    }

    private static boolean isSigned(Path note, Path key) throws Exception {
        return Npm.script("verify.mjs", List.of("--note", note, key)).getFirst().asBoolean();
    }

    /// What was logged before a key was replaced stays valid, in a log that any one of its own keys vouches for.
    @Test
    void aLogOfRunsWithAnotherKeySinceHolds() throws Exception {
        var whole = new Bundles(folder.resolve("data"));
        Ed25519Key next = Ed25519Key.create(TestLog.ORIGIN, new SecureRandom());
        var rotation = new KeyStatement(
                KeyStatement.Action.ROTATE,
                TestLog.ORIGIN,
                next.verifier(),
                KeyStatement.Role.LOG,
                Instant.ofEpochSecond(0, TestRun.START_NS).plusSeconds(3_600),
                null);
        whole.log.add(SignedNote.sign(rotation.text(), List.of(whole.log.key, next)));
        whole.log.signers = List.of(next);
        fresh(whole);
        Path zip = folder.resolve("rotated.zip");
        BundleWriter.write(Recordings.unchecked(whole.data), whole.run.run, next, zip);
        add("rotated, by its first key", zip, whole.log.key.verifier());
        add("rotated, by its last key", zip, next.verifier());
        for (Said each : said()) {
            assertTrue(each.java.holds(), each::toString);
            assertEquals("VERIFIED", each.verdict(), each::toString);
        }
        var revocation = new KeyStatement(
                KeyStatement.Action.REVOKE,
                TestLog.ORIGIN,
                whole.log.ingest.verifier(),
                KeyStatement.Role.INGEST,
                Instant.ofEpochSecond(0, TestRun.START_NS).plusSeconds(7_200),
                null);
        whole.log.add(SignedNote.sign(revocation.text(), next));
        fresh(whole);
        subjects.clear();
        Path revoked = folder.resolve("revoked.zip");
        BundleWriter.write(Recordings.unchecked(whole.data), whole.run.run, next, revoked);
        add("sealed by a key that was revoked", revoked, next.verifier());
        for (Said each : said()) {
            assertEquals(Integrity.TAMPERED, each.java.integrity(), each::toString);
            assertEquals("TAMPERED", each.verdict(), each::toString);
        }
    }

    @Test
    void aKeyFromOutsideDecides() throws Exception {
        var whole = new Bundles(folder.resolve("data"));
        Path zip = whole.writeTo(folder.resolve("run.zip"));
        JsonNode trusted =
                Npm.script("verify.mjs", List.of("--key", whole.logKey(), zip)).getFirst();
        assertEquals("VERIFIED", trusted.path("verdict").asText());
        assertTrue(trusted.path("trusted").asBoolean());
        Path other = folder.resolve("other.pub");
        Files.writeString(
                other,
                Ed25519Key.create(TestLog.ORIGIN, new SecureRandom()).verifier().encoded());
        JsonNode stranger =
                Npm.script("verify.mjs", List.of("--key", other, zip)).getFirst();
        assertEquals("TAMPERED", stranger.path("verdict").asText());
        assertEquals(List.of("the log of runs: none of its keys is trusted"), Npm.texts(stranger.path("findings")));
    }

    /// A post-quantum key is one that the page cannot check with: it neither trusts nor accuses anybody.
    @Test
    void ofAKeyThatThePageCannotUseItSaysSo() throws Exception {
        var whole = new Bundles(folder.resolve("data"));
        Path zip = whole.writeTo(folder.resolve("run.zip"));
        Path key = folder.resolve("pq.pub");
        Files.writeString(
                key,
                blackbox.evidence.sign.MlDsaKey.create44(TestLog.ORIGIN, new SecureRandom())
                        .verifier()
                        .encoded());
        JsonNode said = Npm.script("verify.mjs", List.of("--key", key, zip)).getFirst();
        assertEquals("UNCHECKED", said.path("verdict").asText());
        assertEquals(0, said.path("events").asInt());
    }

    /// The data file that begins with that batch; it may be gone.
    private static Path file(Bundles whole, int batch) throws Exception {
        long first = whole.run.batches.get(batch).firstIndex();
        try (var files = Files.list(whole.run.dataFolder())) {
            return files.map(file -> Path.of(file.toString().replaceAll("\\.seal$", "")))
                    .filter(file -> name(file).firstIndex() == first)
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static DataFileName name(Path file) {
        DataFileName name = DataFileName.parse(String.valueOf(file.getFileName()));
        if (name == null) {
            throw new IllegalArgumentException(file.toString());
        }
        return name;
    }

    private static void delete(Bundles whole, int batch, String suffix) throws Exception {
        Files.delete(Path.of(file(whole, batch) + suffix));
    }
}
