package blackbox.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.bundle.BundleVerifier;
import blackbox.evidence.bundle.BundleWriter;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.Verification.Completeness;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.row.Text;
import blackbox.schemas.table.DataFileName;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
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
            assertEquals(List.of(), texts(each.page.path("findings")), each.name);
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
            boolean silent = texts(each.page.path("findings")).isEmpty()
                    && texts(each.page.path("notes")).isEmpty();
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
    /// the recorder signed.
    @Test
    void aFlipUnderFreshSealsChangesNoEventOrIsFound() throws Exception {
        var whole = new Bundles(folder.resolve("data"));
        Path bundle = whole.writeTo(Files.createDirectory(folder.resolve("bundle")));
        Path file = bundle.resolve(whole.data.relativize(file(whole, 0)));
        byte[] octets = Files.readAllBytes(file);
        var random = new Random(SEED);
        for (int i = 0; i < SEALED_FLIPS; i++) {
            byte[] changed = octets.clone();
            changed[random.nextInt(octets.length)] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, changed);
            whole.run.sealFile(file, name(file), whole.log.ingest);
            add("flip " + i, whole.restated(bundle, folder.resolve("flip-" + i + ".zip")), whole.log.key.verifier());
        }
        int found = 0;
        for (Said each : said()) {
            found += each.verdict().equals("TAMPERED") ? 1 : 0;
            if (each.java.integrity() == Integrity.VERIFIED) {
                assertEquals("VERIFIED", each.verdict(), each::toString);
            }
        }
        assertTrue(found > SEALED_FLIPS / 3, found + " of " + SEALED_FLIPS + " found");
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
        assertEquals(List.of("the log of runs: none of its keys is trusted"), texts(stranger.path("findings")));
    }

    /// A post-quantum key is one that the page cannot check with: given alone, nothing may come out of it.
    @Test
    void aKeyThatThePageCannotUseTrustsNothing() throws Exception {
        var whole = new Bundles(folder.resolve("data"));
        Path zip = whole.writeTo(folder.resolve("run.zip"));
        Path key = folder.resolve("pq.pub");
        Files.writeString(
                key,
                blackbox.evidence.sign.MlDsaKey.create44(TestLog.ORIGIN, new SecureRandom())
                        .verifier()
                        .encoded());
        JsonNode said = Npm.script("verify.mjs", List.of("--key", key, zip)).getFirst();
        assertEquals("TAMPERED", said.path("verdict").asText());
    }

    private static List<String> texts(JsonNode array) {
        var texts = new ArrayList<String>();
        array.forEach(each -> texts.add(each.asText()));
        return texts;
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
