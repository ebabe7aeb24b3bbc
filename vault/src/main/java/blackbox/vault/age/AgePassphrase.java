package blackbox.vault.age;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import org.bouncycastle.crypto.generators.SCrypt;
import org.jspecify.annotations.Nullable;

/// A passphrase, from which scrypt (RFC 7914) makes a key. Immutable; never printed.
public final class AgePassphrase implements AgeLock, AgeUnlock {

    static final String KIND = "scrypt";

    /// Of the work: 2^17 blocks of 1 KiB, so 128 MiB and about half a second.
    static final int WORK = 17;

    /// More than this, 256 MiB, is refused: the file asks for it before anything in it is known to be genuine.
    static final int WORK_MAX = 18;

    private static final String LABEL = "age-encryption.org/v1/scrypt";
    private static final int SALT_BYTES = 16;
    private static final int BLOCK = 8;

    private final byte[] passphrase;
    private final int work;

    /// @param passphrase its octets, which are copied
    public AgePassphrase(byte[] passphrase) {
        this(passphrase, WORK);
    }

    /// The same, with less work for tests.
    AgePassphrase(byte[] passphrase, int work) {
        if (passphrase.length == 0) {
            throw new IllegalArgumentException("the passphrase is empty");
        }
        this.passphrase = passphrase.clone();
        this.work = work;
    }

    @Override
    public AgeStanza wrap(byte[] fileKey, SecureRandom random) {
        var salt = new byte[SALT_BYTES];
        random.nextBytes(salt);
        return new AgeStanza(
                List.of(KIND, AgeHeader.base64(salt), Integer.toString(work)),
                AgeCrypto.seal(derive(salt, work), fileKey));
    }

    private byte[] derive(byte[] salt, int log) {
        byte[] label = LABEL.getBytes(StandardCharsets.US_ASCII);
        byte[] labelled = Arrays.copyOf(label, label.length + salt.length);
        System.arraycopy(salt, 0, labelled, label.length, salt.length);
        return SCrypt.generate(passphrase, labelled, 1 << log, BLOCK, 1, AgeCrypto.KEY_BYTES);
    }

    @Override
    public byte @Nullable [] unwrap(AgeStanza stanza) throws AgeException {
        if (!stanza.kind().equals(KIND)) {
            return null;
        }
        List<String> words = stanza.words();
        byte[] salt = words.size() == 3 ? AgeHeader.octets(words.get(1), SALT_BYTES) : null;
        if (salt == null
                || !words.get(2).matches("[1-9][0-9]?")
                || stanza.body().length != AgeCrypto.FILE_KEY_BYTES + AgeCrypto.TAG_BYTES) {
            throw new AgeException(AgeException.Code.MALFORMED, "its header has a passphrase that is none");
        }
        int log = Integer.parseInt(words.get(2));
        if (log > WORK_MAX) {
            throw new AgeException(
                    AgeException.Code.MALFORMED,
                    "its passphrase asks for 2^" + log + " blocks of scrypt's work; at most 2^" + WORK_MAX
                            + " are done here");
        }
        return AgeCrypto.open(derive(salt, log), stanza.body());
    }

    @Override
    public String toString() {
        return "a passphrase";
    }
}
