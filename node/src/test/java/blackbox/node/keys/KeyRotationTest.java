package blackbox.node.keys;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.storage.LocalStore;
import blackbox.evidence.storage.MemoryStore;
import blackbox.evidence.trust.KeyStatement.Role;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.keys.LogKey;
import blackbox.recorder.keys.LogKeys;
import blackbox.recorder.keys.Secrets;
import blackbox.recorder.runlog.TransparencyLogWriter;
import blackbox.schemas.folder.DataFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A revocation that cannot be completed is not begun.
final class KeyRotationTest {

    @TempDir
    Path folder;

    @Test
    void aKeyWhoseSealsCannotBeReplacedIsNotRevoked() throws Exception {
        var data = new DataFolder(folder);
        var access = new KeyAccess(InstantSource.system(), new SecureRandom(), Secrets.of(Map.of(), null));
        NoteVerifier ingest;
        try (LogKey key = LogKeys.create(data.keys(), LogKeys.NewKeyOptions.standard(), access)) {
            ingest = KeyFile.loadOrCreate(data.keys(), "ingest").verifier();
            var signer = new TransparencyLogWriter.Signer(key.signers(), key.validFrom(), key.validUntil());
            new TransparencyLogWriter(data.log(), signer, access.clock()).certifyIngest(ingest);
        }
        byte[] before = Files.readAllBytes(data.log().resolve(TilePath.CHECKPOINT));
        var elsewhere = new KeyRotation(data, new MemoryStore(), access);
        var refused = assertThrows(IllegalArgumentException.class, () -> elsewhere.revoke(ingest));
        String why = String.valueOf(refused.getMessage());
        assertTrue(why.contains("memory://test/") && why.contains("nothing was revoked"), why);
        assertArrayEquals(before, Files.readAllBytes(data.log().resolve(TilePath.CHECKPOINT)), "nothing was logged");
        assertFalse(Files.exists(data.revoking()));
        assertEquals(
                ingest, KeyFile.loadOrCreate(data.keys(), "ingest").verifier(), "the key is the one that seals here");
        Revocation done = new KeyRotation(data, LocalStore.in(data), access).revoke(ingest);
        assertEquals(Role.INGEST, done.role());
        assertEquals(ingest, done.key());
    }
}
