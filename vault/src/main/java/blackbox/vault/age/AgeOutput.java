package blackbox.vault.age;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/// Encrypts what is written to it. [#finish] writes the end: a file without it is recognized as cut. Owned by one
/// thread.
public final class AgeOutput extends OutputStream {

    /// Octets that a chunk holds.
    static final int CHUNK_BYTES = 1 << 16;

    /// Octets between header and chunks.
    static final int NONCE_BYTES = 16;

    private final OutputStream out;
    private final Cipher cipher = AgeCrypto.cipher();
    private final SecretKeySpec key;
    private final byte[] plain = new byte[CHUNK_BYTES];
    private final byte[] sealed = new byte[CHUNK_BYTES + AgeCrypto.TAG_BYTES];
    private int length;
    private long number;
    private boolean finished;

    /// Writes the header.
    ///
    /// @param out gets the file, and stays open
    /// @param locks public keys, or one passphrase alone
    /// @throws AgeException in FIPS mode
    public AgeOutput(OutputStream out, List<? extends AgeLock> locks, SecureRandom random) throws IOException {
        AgeCrypto.requireAllowed();
        if (locks.isEmpty() || locks.size() > 1 && locks.stream().anyMatch(AgePassphrase.class::isInstance)) {
            throw new IllegalArgumentException("a file is encrypted to public keys, or to one passphrase alone");
        }
        var fileKey = new byte[AgeCrypto.FILE_KEY_BYTES];
        random.nextBytes(fileKey);
        var stanzas = new ArrayList<AgeStanza>();
        locks.forEach(lock -> stanzas.add(lock.wrap(fileKey, random)));
        var nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        this.out = out;
        this.key = AgeCrypto.chacha(AgeCrypto.hkdf(fileKey, nonce, "payload"));
        out.write(AgeHeader.write(stanzas, fileKey));
        out.write(nonce);
        Arrays.fill(fileKey, (byte) 0);
    }

    @Override
    public void write(int octet) throws IOException {
        write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public void write(byte[] octets, int from, int count) throws IOException {
        for (int done = 0; done < count; ) {
            if (length == CHUNK_BYTES) {
                put(false); // only now is it known not to be the last
            }
            int part = Math.min(count - done, CHUNK_BYTES - length);
            System.arraycopy(octets, from + done, plain, length, part);
            length += part;
            done += part;
        }
    }

    private void put(boolean last) throws IOException {
        try {
            cipher.init(Cipher.ENCRYPT_MODE, key, nonce(number++, last));
            out.write(sealed, 0, cipher.doFinal(plain, 0, length, sealed, 0));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("ChaCha20-Poly1305 does not encrypt", e);
        }
        length = 0;
    }

    /// The nonce of a chunk: its number from 0 in 11 octets, and 1 for the last one.
    static IvParameterSpec nonce(long number, boolean last) {
        return new IvParameterSpec(ByteBuffer.allocate(12)
                .putInt((int) (number >>> 56))
                .putLong(number << 8 | (last ? 1 : 0))
                .array());
    }

    /// Writes the end. Nothing may be written afterwards.
    public void finish() throws IOException {
        if (!finished) {
            finished = true;
            put(true);
            Arrays.fill(plain, (byte) 0);
            out.flush();
        }
    }
}
