package blackbox.recorder.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.recorder.RecorderException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// What every store of long-term keys does alike, run over all of them.
class LogKeyContractTest {

    private static final Instant NOW = Instant.parse("2026-11-22T02:00:00Z");
    private static final String TEXT = "a note\n";

    @TempDir
    private Path folder;

    private static final TestToken TOKEN = new TestToken();
    private static final TestTpm TPM = new TestTpm();

    static List<TestStore> stores() {
        return List.of(new TestStore.PlainFile(), new TestStore.EncryptedFile(), TOKEN, TPM);
    }

    @AfterAll
    static void endTheTpm() throws Exception {
        TPM.close();
    }

    private static KeyAccess access(TestStore store) {
        return new KeyAccess(InstantSource.fixed(NOW), new SecureRandom(), store.secrets());
    }

    private LogKey create(TestStore store) throws RecorderException {
        return LogKeys.create(folder, store.options(Duration.ofDays(30)), access(store));
    }

    @ParameterizedTest
    @MethodSource("stores")
    void aKeyComesBackAsItWasMade(TestStore store) throws Exception {
        try (LogKey made = create(store);
                LogKey loaded = LogKeys.loadOrCreate(folder, access(store))) {
            assertTrue(made.origin().matches("blackbox/log/[0-9a-z]{26}"), made.origin());
            assertEquals(made.conf(), loaded.conf());
            assertEquals(NOW, loaded.validFrom());
            assertEquals(NOW.plus(Duration.ofDays(30)), loaded.validUntil());
            assertEquals(made.signers().size(), loaded.conf().keys().size());
            for (NoteSigner signer : loaded.signers()) {
                assertEquals(made.origin(), signer.verifier().name());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("stores")
    void eachLineVerifiesWithTheKeyThatStandsInTheFile(TestStore store) throws Exception {
        try (LogKey _ = create(store);
                LogKey key = LogKeys.load(folder, access(store))) {
            // As often as a device is asked in practice before it is closed again: what it keeps open shows
            // here.
            for (int i = 0; i < 8; i++) {
                SignedNote note = SignedNote.parse(SignedNote.sign(TEXT + i + "\n", key.signers()));
                assertEquals(
                        key.signers().size(),
                        note == null ? 0 : note.signatures().size());
                for (String vkey : key.conf().keys()) {
                    assertTrue(note != null && note.signedBy(List.of(NoteVerifiers.parse(vkey))) != null, vkey);
                }
            }
        }
        assertEquals(
                LogKeys.load(folder, access(store)).first().verifier().encoded(),
                read("log.pub").strip());
    }

    @ParameterizedTest
    @MethodSource("stores")
    void aClosedKeySignsNothing(TestStore store) throws Exception {
        LogKey key = create(store);
        key.close();
        assertThrows(IllegalStateException.class, () -> SignedNote.sign(TEXT, key.signers()));
    }

    @ParameterizedTest
    @MethodSource("stores")
    void aKeyThatIsNotTheOneInTheFileIsRefused(TestStore store) throws Exception {
        create(store).close();
        String conf = read(LogKeys.CONF);
        String known =
                conf.lines().filter(line -> line.startsWith("key ")).findFirst().orElseThrow();
        var other = Ed25519Key.create(known.substring(4, known.indexOf('+')), new SecureRandom());
        Files.writeString(
                folder.resolve(LogKeys.CONF),
                conf.replace(known, "key " + other.verifier().encoded()));
        var refusal = assertThrows(RecorderException.class, () -> LogKeys.load(folder, access(store)));
        assertTrue(String.valueOf(refusal.getMessage()).contains("not one that"), refusal::getMessage);
    }

    @ParameterizedTest
    @MethodSource("stores")
    void aDestroyedKeyOpensNoMore(TestStore store) throws Exception {
        LogKey key = create(store);
        key.close();
        LogKeyStore.of(key.kind(), folder, access(store)).destroy(key.conf());
        assertThrows(RecorderException.class, () -> LogKeys.load(folder, access(store)));
    }

    @ParameterizedTest
    @MethodSource("stores")
    void twoKeysAreTwo(TestStore store) throws Exception {
        create(store).close();
        String first = read("log.pub");
        assertThrows(RecorderException.class, () -> create(store), "a key that is there is never overwritten");
        Files.delete(folder.resolve(LogKeys.CONF));
        create(store).close();
        assertNotEquals(first, read("log.pub"));
    }

    @ParameterizedTest
    @MethodSource("stores")
    void noSecretStandsInTheOpen(TestStore store) throws Exception {
        create(store).close();
        var open = new HashSet<String>();
        try (var files = Files.list(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                boolean ownerOnly = Files.getPosixFilePermissions(file).size() == 2;
                if (!ownerOnly) {
                    open.add(file.getFileName().toString());
                }
            }
        }
        open.remove(".lock");
        assertEquals(Set.of("log.pub"), open);
        assertFalse(read(LogKeys.CONF).contains("PRIVATE"));
    }

    @ParameterizedTest
    @MethodSource("stores")
    void aRotationEndsWithTheNewKeyAlone(TestStore store) throws Exception {
        try (LogKey old = create(store);
                LogKey next = LogKeys.prepareNext(folder, store.options(null), access(store))) {
            assertEquals(old.origin(), next.origin());
            assertTrue(LogKeys.isRotating(folder));
            assertEquals(old.conf(), LogKeys.load(folder, access(store)).conf(), "it is not in use yet");
            LogKey again = LogKeys.prepareNext(folder, store.options(null), access(store));
            assertEquals(next.conf(), again.conf(), "a rotation that was interrupted goes on with the same key");
            LogKeys.promote(folder, access(store));
            assertFalse(LogKeys.isRotating(folder));
            assertEquals(next.conf(), LogKeys.load(folder, access(store)).conf());
            assertEquals(next.conf().keys().getFirst(), read("log.pub").strip());
            Files.writeString(folder.resolve(LogKeys.CONF), old.conf().text());
            assertThrows(RecorderException.class, () -> LogKeys.load(folder, access(store)), "it is destroyed");
        }
        assertThrows(RecorderException.class, () -> LogKeys.promote(folder, access(store)));
    }

    private String read(String name) throws IOException {
        return Files.readString(folder.resolve(name));
    }
}
