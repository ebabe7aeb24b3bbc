package blackbox.recorder.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.sign.CryptoProvider;
import blackbox.vault.PayloadKey;
import blackbox.vault.VaultException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The data folder's key for payloads, in its file. A process opens a file once: each case has one of its own.
class PayloadKeyFileTest {

    @TempDir
    Path folder;

    private static KeyAccess access(Map<String, String> environment) {
        return new KeyAccess(InstantSource.system(), CryptoProvider.current().random(), Secrets.of(environment, null));
    }

    @Test
    void itIsMadeOnceAndItsOwnerAloneCanReadIt() throws Exception {
        Path file = folder.resolve("elsewhere/payload.key");
        var keys = new PayloadKeyFile(file, access(Map.of()));
        var none = assertThrows(VaultException.class, keys::existing);
        assertEquals(VaultException.Code.NO_KEY, none.code());
        PayloadKey made = keys.existingOrNew();
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals(made, keys.existing());
        assertEquals(made, new PayloadKeyFile(file, access(Map.of())).existingOrNew());
        Path moved = Files.move(file, folder.resolve("payload.key"));
        assertEquals(made, new PayloadKeyFile(moved, access(Map.of())).existing());
    }

    @Test
    void aKeyThatOthersCanReadIsRefused() throws Exception {
        Path file = folder.resolve("payload.key");
        new PayloadKeyFile(file, access(Map.of())).existingOrNew();
        Path open = Files.copy(file, folder.resolve("open.key"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));
        var failure = assertThrows(IOException.class, () -> new PayloadKeyFile(open, access(Map.of())).existing());
        assertTrue(String.valueOf(failure.getMessage()).contains("chmod 600"), failure.getMessage());
    }

    @Test
    void withAPassphraseItsFileIsEncrypted() throws Exception {
        Path passphrase = Files.writeString(folder.resolve("pass"), "a passphrase of many words\n");
        Map<String, String> given = Map.of(Secrets.PASSPHRASE, passphrase.toString());
        Path file = folder.resolve("payload.key");
        PayloadKey made = new PayloadKeyFile(file, access(given)).existingOrNew();
        assertTrue(Files.readString(file).startsWith("-----BEGIN ENCRYPTED PRIVATE KEY-----"));

        Path copy = Files.copy(file, folder.resolve("copy.key"));
        var none = assertThrows(IOException.class, () -> new PayloadKeyFile(copy, access(Map.of())).existing());
        assertTrue(String.valueOf(none.getMessage()).contains(Secrets.PASSPHRASE), none.getMessage());
        Path wrong = Files.writeString(folder.resolve("wrong"), "another passphrase entirely\n");
        var refused = assertThrows(
                IOException.class,
                () -> new PayloadKeyFile(copy, access(Map.of(Secrets.PASSPHRASE, wrong.toString()))).existing());
        assertFalse(refused.getMessage() == null);
        assertEquals(made, new PayloadKeyFile(copy, access(given)).existing());
    }

    @Test
    void whatIsNoKeyIsRefused() throws Exception {
        int number = 0;
        for (String text :
                new String[] {"", "blackbox/payload-key/v1 00ff\n", "blackbox/payload-key/v2 " + "00".repeat(32)}) {
            Path file = folder.resolve("bad-" + number++);
            OwnerFile.write(file, text);
            assertThrows(IOException.class, () -> new PayloadKeyFile(file, access(Map.of())).existing(), text);
        }
    }
}
