package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.ExitCodes;
import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.parquet.ForgedFooter;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.tiles.CheckedLog;
import blackbox.evidence.trust.KeyHistory;
import blackbox.evidence.trust.KeyStatement.Role;
import blackbox.evidence.verify.RunVerifier;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.node.data.LocalTrust;
import blackbox.node.keys.KeyRotation;
import blackbox.node.record.PipelineLock;
import blackbox.recorder.RecorderException;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.keys.LogKey;
import blackbox.recorder.keys.LogKeys;
import blackbox.recorder.keys.Secrets;
import blackbox.recorder.runlog.TransparencyLogWriter;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.table.DataFileName;
import blackbox.schemas.table.EventsTable;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `blackbox keys`, checked with the verifier's reader of the log of runs.
class KeysCommandTest {

    @TempDir
    private Path folder;

    private DataFolder data = new DataFolder(Path.of("."));

    @BeforeEach
    void useTheFolder() {
        data = new DataFolder(folder);
    }

    private record Said(int exitCode, String out, String err) {
        JsonNode json() throws IOException {
            return new ObjectMapper().readTree(out);
        }
    }

    private Said keys(String... arguments) {
        PrintStream outBefore = System.out;
        PrintStream errBefore = System.err;
        var out = new ByteArrayOutputStream();
        var err = new ByteArrayOutputStream();
        String[] all = new String[arguments.length + 3];
        all[0] = "keys";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        all[all.length - 2] = "--data";
        all[all.length - 1] = folder.toString();
        try {
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
            int exitCode = Main.run(all);
            return new Said(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(outBefore);
            System.setErr(errBefore);
        }
    }

    private static KeyAccess access(InstantSource clock) {
        return new KeyAccess(clock, new SecureRandom(), Secrets.of(Map.of(), null));
    }

    private LogKey load() throws RecorderException {
        return LogKeys.load(data.keys(), access(InstantSource.system()));
    }

    private TransparencyLogWriter log(LogKey key, InstantSource clock) {
        return new TransparencyLogWriter(
                data.log(), new TransparencyLogWriter.Signer(key.signers(), key.validFrom(), key.validUntil()), clock);
    }

    /// Certifies a run's key, as `record` does when a run begins.
    private void beginARun() throws Exception {
        try (LogKey key = load()) {
            var run = RunId.create(Instant.now(), new SecureRandom());
            log(key, InstantSource.system())
                    .certify(
                            run,
                            Ed25519Key.create(run.origin(), new SecureRandom()).verifier());
        }
    }

    private CheckedLog checked(List<NoteVerifier> trusted) throws IOException {
        var outcome = CheckedLog.read(new TransparencyLogReader(data.log()), trusted, null);
        return assertInstanceOf(CheckedLog.Holds.class, outcome, outcome::toString)
                .log();
    }

    @Test
    void aKeyIsCreatedShownAndNotCreatedTwice() throws Exception {
        assertTrue(keys("show").out().contains("no key yet"));
        Said made = keys("create", "--json");
        assertEquals(0, made.exitCode(), made.err());
        JsonNode shown = keys("show", "--json").json();
        assertEquals(made.json().get("log"), shown.get("log"));
        assertEquals("file", shown.at("/log/store").asText());
        assertEquals("Ed25519", shown.at("/log/keys/0/algorithm").asText());
        assertEquals("ML-DSA-44", shown.at("/log/keys/1/algorithm").asText());
        assertEquals(0, shown.get("leftOut").size());
        assertFalse(keys("show").out().contains("PRIVATE"));
        assertEquals(ExitCodes.BAD_INPUT, keys("create").exitCode());
    }

    @Test
    void optionsThatAStoreDoesNotHaveAreRefused() {
        for (String[] bad : List.of(
                new String[] {"create", "--store", "paper"},
                new String[] {"create", "--store", "pkcs11"},
                new String[] {"create", "--store", "tpm", "--slot", "1"},
                new String[] {"create", "--module", "x"},
                new String[] {"create", "--valid-days", "0"},
                new String[] {"rotate"},
                new String[] {"revoke", folder + "/nothing.pub"})) {
            Said said = keys(bad);
            assertEquals(ExitCodes.BAD_INPUT, said.exitCode(), String.join(" ", bad) + said.err());
            assertEquals(1, said.err().lines().count(), said.err());
        }
        Said noTpm = keys("create", "--store", "tpm", "--tcti", "device:/nowhere");
        assertEquals(ExitCodes.FAILED, noTpm.exitCode());
        assertTrue(noTpm.err().contains("TPM"), noTpm.err());
    }

    @Test
    void aRotatedKeySignsWhatFollowsAndTheOldOneVouchesForIt() throws Exception {
        keys("create");
        NoteVerifier first = new LocalTrust(data).trustedKeys().getFirst();
        beginARun();
        assertEquals(0, keys("rotate").exitCode());
        NoteVerifier second = new LocalTrust(data).trustedKeys().getFirst();
        beginARun();
        for (NoteVerifier trusted : List.of(first, second)) {
            KeyHistory history = checked(List.of(trusted)).keys();
            assertEquals(second, history.currentLogKey());
            assertEquals(List.of(first), history.believed(Role.LOG, 1));
            assertEquals(List.of(second), history.believed(Role.LOG, 4));
        }
        var stranger = Ed25519Key.create(first.name(), new SecureRandom()).verifier();
        assertInstanceOf(
                CheckedLog.Broken.class,
                CheckedLog.read(new TransparencyLogReader(data.log()), List.of(stranger), null));
    }

    @Test
    void anInterruptedRotationIsCompleted() throws Exception {
        keys("create");
        beginARun();
        NoteVerifier next;
        try (LogKey old = load();
                LogKey made = LogKeys.prepareNext(
                        data.keys(), LogKeys.NewKeyOptions.standard(), access(InstantSource.system()))) {
            next = made.first().verifier();
            log(made, InstantSource.system()).rotate(old.signers());
        }
        assertThrows(RecorderException.class, this::beginARun, "the log has the next key, the folder not yet");
        assertTrue(keys("show").out().contains("not finished"));
        Said ended = keys("rotate");
        assertEquals(0, ended.exitCode(), ended.err());
        assertEquals(next.encoded(), ended.out().strip());
        beginARun();
        assertEquals(next, checked(List.of(next)).keys().currentLogKey());
    }

    @Test
    void aRevokedIngestKeyCountsForNothingLater() throws Exception {
        keys("create");
        NoteVerifier ingest = KeyFile.loadOrCreate(data.keys(), "ingest").verifier();
        Path file = data.keys().resolve("ingest.pub");
        try (LogKey key = load()) {
            log(key, InstantSource.system()).certifyIngest(ingest);
        }
        Said revoked = keys("revoke", file.toString(), "--json");
        assertEquals(0, revoked.exitCode(), revoked.err());
        assertEquals("ingest", revoked.json().get("role").asText());
        assertNotEquals(ingest.encoded(), Files.readString(file).strip(), "another key has taken its place");
        beginARun();
        CheckedLog log = checked(new LocalTrust(data).trustedKeys());
        assertEquals(List.of(ingest), log.keys().believed(Role.INGEST, 2));
        assertEquals(List.of(), log.keys().believed(Role.INGEST, 3));
        assertFalse(log.keys().sealers().contains(ingest));
    }

    /// A run from before there was a log, whose one data file `sealer` sealed.
    private Path sealedRun(TestRun run, Ed25519Key sealer) throws Exception {
        Path file = TestEvents.smallBuild(run, 3).table();
        seal(run, file, sealer);
        return file;
    }

    /// The key that seals data files, in a new log that names it.
    private Ed25519Key certifiedIngestKey() throws Exception {
        keys("create");
        Ed25519Key ingest = KeyFile.loadOrCreate(data.keys(), "ingest");
        try (LogKey key = load()) {
            log(key, InstantSource.system()).certifyIngest(ingest.verifier());
        }
        return ingest;
    }

    private static void seal(TestRun run, Path file, Ed25519Key sealer) throws Exception {
        run.sealFile(
                file,
                Objects.requireNonNull(DataFileName.parse(file.getFileName().toString())),
                sealer);
    }

    @Test
    void whatARevokedKeySealedIsVerifiedAndSealedAgain() throws Exception {
        Ed25519Key old = certifiedIngestKey();
        var run = new TestRun(data.root());
        Path file = sealedRun(run, old);
        var forged =
                new TestRun(data.root(), RunId.create(run.run.createdAt().plusSeconds(1), new SecureRandom()), run.key);
        Path other = sealedRun(forged, old);
        ForgedFooter.change(other, ForgedFooter.Lie.UNSIGNED);
        seal(forged, other, old);
        Path state = file.resolveSibling(EventsTable.STATE_NOTE);
        Files.writeString(state, SignedNote.sign("how far the run is\n", old));
        Files.copy(state, other.resolveSibling(EventsTable.STATE_NOTE));
        Said revoked = keys("revoke", data.keys().resolve("ingest.pub").toString(), "--json");
        assertEquals(ExitCodes.DOES_NOT_HOLD, revoked.exitCode(), revoked.err());
        assertEquals(1, revoked.json().get("resealed").asInt());
        assertEquals("[\"" + forged.run + "\"]", revoked.json().get("refused").toString());
        assertEquals(Integrity.VERIFIED, verify(run.run));
        assertEquals(List.of(), new LocalTrust(data).recordings().leftOut(run.run));
        assertEquals(1, new LocalTrust(data).recordings().leftOut(forged.run).size());
        NoteVerifier next = NoteVerifiers.parse(Files.readString(data.keys().resolve("ingest.pub")));
        assertTrue(isSigned(state, next), "the note of the run's state is signed again");
        assertFalse(isSigned(other.resolveSibling(EventsTable.STATE_NOTE), next));
        // Somebody who still has the old key seals with it again.
        seal(run, file, old);
        assertEquals(Integrity.TAMPERED, verify(run.run));
        assertEquals(1, new LocalTrust(data).recordings().leftOut(run.run).size());
        // From a backup, its public key returns to where the trusted ones are, or is to be certified again.
        Files.writeString(data.keys().resolve("restored.pub"), old.verifier().encoded() + "\n");
        assertTrue(new LocalTrust(data).trustedKeys().contains(old.verifier()));
        assertEquals(Integrity.TAMPERED, verify(run.run));
        assertEquals(1, new LocalTrust(data).recordings().leftOut(run.run).size());
        try (LogKey key = load()) {
            TransparencyLogWriter log = log(key, InstantSource.system());
            var refused = assertThrows(RecorderException.class, () -> log.certifyIngest(old.verifier()));
            assertTrue(String.valueOf(refused.getMessage()).contains("was revoked"), refused::getMessage);
        }
    }

    private static boolean isSigned(Path note, NoteVerifier by) throws Exception {
        return Objects.requireNonNull(SignedNote.parse(Files.readAllBytes(note)))
                        .signedBy(List.of(by))
                != null;
    }

    @Test
    void anInterruptedRevocationIsCompletedAndTheNewKeyStays() throws Exception {
        Ed25519Key old = certifiedIngestKey();
        var run = new TestRun(data.root());
        Path file = sealedRun(run, old);
        Path named = data.keys().resolve("ingest.pub");
        assertEquals(0, keys("revoke", named.toString()).exitCode());
        String next = Files.readString(named);
        // As after a kill between the statement and the last seal.
        seal(run, file, old);
        Files.writeString(data.keys().resolve("revoking"), old.verifier().encoded() + "\n");
        long size = checked(new LocalTrust(data).trustedKeys()).checkpoint().size();
        Said again = keys("revoke", named.toString(), "--json");
        assertEquals(ExitCodes.DOES_NOT_HOLD, again.exitCode(), "the key that was named is not revoked");
        assertTrue(again.err().contains("interrupted"), again.err());
        assertTrue(again.err().contains("was NOT revoked: " + next.strip()), again.err());
        assertEquals(old.verifier().encoded(), again.json().get("revoked").asText());
        assertEquals(next.strip(), again.json().get("notRevoked").asText());
        assertEquals(next, Files.readString(named));
        assertEquals(Integrity.VERIFIED, verify(run.run));
        assertEquals(
                size, checked(new LocalTrust(data).trustedKeys()).checkpoint().size(), "nothing is stated twice");
        assertFalse(Files.exists(data.keys().resolve("revoking")));
        Said then = keys("revoke", named.toString(), "--json");
        assertEquals(0, then.exitCode(), then.err());
        assertEquals(next.strip(), then.json().get("revoked").asText());
        assertTrue(then.json().get("notRevoked").isNull());
    }

    /// The specification says that it comes first, whatever kind of key is named.
    @Test
    void aLogsKeyIsNotRevokedBeforeARevocationThatWasInterrupted() throws Exception {
        Ed25519Key old = certifiedIngestKey();
        Path replaced = Files.copy(data.keys().resolve("log.pub"), folder.resolve("replaced.pub"));
        assertEquals(0, keys("rotate").exitCode());
        Files.writeString(data.keys().resolve("revoking"), old.verifier().encoded() + "\n");
        Said said = keys("revoke", replaced.toString(), "--json");
        assertEquals(ExitCodes.DOES_NOT_HOLD, said.exitCode(), said.err());
        assertEquals("ingest", said.json().get("role").asText());
        assertFalse(checked(new LocalTrust(data).trustedKeys()).keys().sealers().contains(old.verifier()));
        Said then = keys("revoke", replaced.toString(), "--json");
        assertEquals(0, then.exitCode(), then.err());
        assertEquals("log", then.json().get("role").asText());
    }

    @Test
    void aKeyIsNotRevokedWhileFilesAreBeingSealed() throws Exception {
        Ed25519Key old = certifiedIngestKey();
        try (PipelineLock held = PipelineLock.tryTake(data)) {
            assertNotNull(held);
            Said said = keys("revoke", data.keys().resolve("ingest.pub").toString());
            assertEquals(ExitCodes.BAD_INPUT, said.exitCode());
            assertTrue(said.err().contains("being sealed"), said.err());
        }
        assertTrue(checked(new LocalTrust(data).trustedKeys()).keys().sealers().contains(old.verifier()));
    }

    private Integrity verify(RunId run) throws IOException {
        return RunVerifier.verify(Recordings.unchecked(data.root()), run, new LocalTrust(data).trustedKeys())
                .integrity();
    }

    @Test
    void aKeyThatTheLogDoesNotKnowOrStillNeedsIsNotRevoked() throws Exception {
        keys("create");
        beginARun();
        Said own = keys("revoke", data.keys().resolve("log.pub").toString());
        assertEquals(ExitCodes.BAD_INPUT, own.exitCode());
        assertTrue(own.err().contains("keys rotate"), own.err());
        Path unknown = folder.resolve("unknown.pub");
        Files.writeString(
                unknown,
                Ed25519Key.create("blackbox/ingest", new SecureRandom())
                        .verifier()
                        .encoded());
        Said said = keys("revoke", unknown.toString());
        assertEquals(ExitCodes.FAILED, said.exitCode());
        assertTrue(said.err().contains("never named"), said.err());
        assertEquals(2, checked(new LocalTrust(data).trustedKeys()).checkpoint().size(), "nothing was appended");
    }

    @Test
    void anExpiredKeySignsNothingAndCannotBeRotated() throws Exception {
        Instant start = Instant.parse("2026-01-01T00:00:00Z");
        InstantSource late = InstantSource.fixed(start.plus(Duration.ofDays(2)));
        var options = new LogKeys.NewKeyOptions(
                LogKeys.NewKeyOptions.standard().store(),
                LogKeys.NewKeyOptions.standard().settings(),
                Duration.ofDays(1));
        LogKeys.create(data.keys(), options, access(InstantSource.fixed(start))).close();
        try (LogKey key = load()) {
            RunId run = RunId.create(start, new SecureRandom());
            var epoch = Ed25519Key.create(run.origin(), new SecureRandom()).verifier();
            log(key, InstantSource.fixed(start)).certify(run, epoch);
            var refusal =
                    assertThrows(RecorderException.class, () -> log(key, late).certify(run, epoch));
            assertTrue(String.valueOf(refusal.getMessage()).contains("expired"), refusal::getMessage);
        }
        assertFalse(keys("show", "--json").json().at("/log/valid").asBoolean());
        var care = new KeyRotation(data, access(late));
        assertThrows(RecorderException.class, () -> care.rotate(LogKeys.NewKeyOptions.standard()));
        assertEquals(2, checked(new LocalTrust(data).trustedKeys()).checkpoint().size(), "nothing was appended");
    }
}
