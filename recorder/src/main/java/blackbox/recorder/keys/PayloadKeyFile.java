package blackbox.recorder.keys;

import blackbox.evidence.sign.CryptoProvider;
import blackbox.files.ProcessLock;
import blackbox.recorder.RecorderException;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.PayloadKey;
import blackbox.vault.Vault;
import blackbox.vault.VaultException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The data folder's key for payloads, `keys/payload.key` (`schemas/payload.md`), or a file that the
/// environment names: whoever takes the disk with the data folder then has no key. It is encrypted if there
/// was a passphrase when it was made. A process opens a file once, so that nobody is asked twice for its
/// passphrase.
public final class PayloadKeyFile implements PayloadKey.Source {

    /// Names another file.
    public static final String VARIABLE = "BLACKBOX_PAYLOAD_KEY_FILE";

    private static final String FIRST_WORD = "blackbox/payload-key/v1 ";
    private static final Map<Path, PayloadKey> OPENED = new ConcurrentHashMap<>();

    private final Path file;
    private final KeyAccess access;

    PayloadKeyFile(Path file, KeyAccess access) {
        this.file = file.toAbsolutePath().normalize();
        this.access = access;
    }

    /// The payloads of a data folder, with the key that this process's environment gives it.
    public static Vault vault(DataFolder data) {
        return staging(data, data);
    }

    /// The payloads of a folder that is laid out as a data folder, and whose files are to be moved to `data`
    /// and so are encrypted with the key of that one.
    public static Vault staging(DataFolder folder, DataFolder data) {
        String named = System.getenv(VARIABLE);
        Path file = named == null || named.isBlank() ? data.payloadKey() : Path.of(named);
        return new Vault(
                folder,
                new PayloadKeyFile(file, KeyAccess.system()),
                CryptoProvider.current().random());
    }

    @Override
    public PayloadKey existing() throws IOException {
        PayloadKey known = OPENED.get(file);
        if (known != null) {
            return known;
        }
        if (!OwnerFile.exists(file)) {
            throw new VaultException(
                    VaultException.Code.NO_KEY,
                    "the key of this data folder for payloads, " + file + ", is not here: copy it from a backup or from"
                            + " where the run was recorded, or name it in " + VARIABLE);
        }
        PayloadKey key = open();
        OPENED.put(file, key);
        return key;
    }

    @Override
    public PayloadKey existingOrNew() throws IOException {
        if (!OPENED.containsKey(file) && !OwnerFile.exists(file)) {
            Path folder = file.getParent();
            if (folder == null) {
                throw new IOException(file + " is not a file");
            }
            try (ProcessLock _ = KeysLock.take(folder)) {
                if (!OwnerFile.exists(file)) {
                    create();
                }
            }
        }
        return existing();
    }

    private void create() throws IOException {
        char[] passphrase = passphraseIfGiven();
        PayloadKey key = PayloadKey.create(access.random());
        byte[] octets = key.octets();
        try {
            OwnerFile.write(
                    file,
                    passphrase == null
                            ? FIRST_WORD + HexFormat.of().formatHex(octets) + "\n"
                            : PrivateKeyPem.PAYLOAD.encrypt(octets, passphrase, access.random()));
        } finally {
            Arrays.fill(octets, (byte) 0);
            key.destroy();
            clear(passphrase);
        }
    }

    private char @Nullable [] passphraseIfGiven() throws IOException {
        return access.secrets().isGiven(Secrets.PASSPHRASE) ? passphrase() : null;
    }

    private char[] passphrase() throws IOException {
        try {
            return FileKeyStore.passphrase(access, DataFolder.PAYLOAD_KEY);
        } catch (RecorderException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private PayloadKey open() throws IOException {
        byte[] text = new byte[0];
        byte[] octets = new byte[0];
        char[] passphrase = null;
        try {
            text = OwnerFile.readSecret(file);
            if (PrivateKeyPem.isOne(text)) {
                passphrase = passphrase();
                octets = PrivateKeyPem.PAYLOAD.decrypt(new String(text, StandardCharsets.US_ASCII), passphrase);
            } else {
                octets = plain(text);
            }
            return PayloadKey.of(octets);
        } catch (IOException | IllegalArgumentException | RecorderException e) {
            throw new IOException(
                    "the key of this data folder for payloads, " + file + ", cannot be used: " + e.getMessage(), e);
        } finally {
            clear(passphrase);
            Arrays.fill(text, (byte) 0);
            Arrays.fill(octets, (byte) 0);
        }
    }

    /// What is written in hexadecimal after the first word, a digit at a time: no text is made of it.
    private static byte[] plain(byte[] text) throws IOException {
        byte[] word = FIRST_WORD.getBytes(StandardCharsets.US_ASCII);
        if (text.length < word.length || !Arrays.equals(text, 0, word.length, word, 0, word.length)) {
            throw new IOException("it does not begin as a payload key of this version");
        }
        var octets = new byte[PayloadKey.BYTES];
        int digits = 0;
        for (int at = word.length; at < text.length; at++) {
            if (!Character.isWhitespace(text[at])) {
                if (digits == 2 * octets.length) {
                    throw new IOException("it has more than a payload key's digits");
                }
                octets[digits / 2] = (byte) (octets[digits / 2] << 4 | HexFormat.fromHexDigit(text[at]));
                digits++;
            }
        }
        if (digits != 2 * octets.length) {
            throw new IOException("it has fewer than a payload key's digits");
        }
        return octets;
    }

    private static void clear(char @Nullable [] passphrase) {
        if (passphrase != null) {
            Arrays.fill(passphrase, '\0');
        }
    }
}
