package blackbox.vault.age;

import blackbox.vault.age.AgeException.Code;
import java.io.IOException;
import java.io.InputStream;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

/// Opens an encrypted file. What it returns is what was written at this place by somebody who knew the file's key;
/// its end is returned only if it is the end that was written. Owned by one thread.
public final class AgeInput extends InputStream {

    private static final int SEALED_BYTES = AgeOutput.CHUNK_BYTES + AgeCrypto.TAG_BYTES;

    private final InputStream in;
    private final Cipher cipher = AgeCrypto.cipher();
    private final SecretKeySpec key;
    private byte[] sealed = new byte[SEALED_BYTES];
    private byte[] ahead = new byte[SEALED_BYTES];
    private int aheadBytes;
    private final byte[] plain = new byte[AgeOutput.CHUNK_BYTES];
    private int from;
    private int to;
    private long number;
    private boolean ended;

    /// Reads the header.
    ///
    /// @param in the file, buffered; this closes it
    /// @throws AgeException `MALFORMED`, `WRONG_KEY`, `ALTERED`, `CUT`
    public AgeInput(InputStream in, AgeUnlock unlock) throws IOException {
        AgeCrypto.requireAllowed();
        this.in = in;
        byte[] fileKey = AgeHeader.read(in, unlock);
        byte[] nonce = in.readNBytes(AgeOutput.NONCE_BYTES);
        if (nonce.length < AgeOutput.NONCE_BYTES) {
            throw new AgeException(Code.CUT, "it ends after its header");
        }
        this.key = AgeCrypto.chacha(AgeCrypto.hkdf(fileKey, nonce, "payload"));
        this.aheadBytes = in.readNBytes(ahead, 0, SEALED_BYTES);
    }

    /// Whether these are the first octets of such a file.
    public static boolean isOne(byte[] head) {
        return new String(head, java.nio.charset.StandardCharsets.ISO_8859_1).startsWith(AgeHeader.FIRST + "\n");
    }

    /// How many octets of a file tell whether it is one.
    public static int headBytes() {
        return AgeHeader.FIRST.length() + 1;
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int count) throws IOException {
        if (count == 0) {
            return 0;
        }
        while (from == to && !ended) {
            next();
        }
        int part = Math.min(count, to - from);
        if (part == 0) {
            return -1;
        }
        System.arraycopy(plain, from, into, offset, part);
        from += part;
        return part;
    }

    private void next() throws IOException {
        byte[] free = sealed;
        sealed = ahead;
        int bytes = aheadBytes;
        ahead = free;
        aheadBytes = bytes < SEALED_BYTES ? 0 : in.readNBytes(ahead, 0, SEALED_BYTES);
        boolean last = aheadBytes == 0;
        if (bytes < AgeCrypto.TAG_BYTES || bytes == AgeCrypto.TAG_BYTES && number > 0) {
            throw new AgeException(Code.CUT, "it has lost its end");
        }
        from = 0;
        to = open(bytes, last);
        ended = last;
        number++;
    }

    private int open(int bytes, boolean last) throws AgeException {
        try {
            cipher.init(Cipher.DECRYPT_MODE, key, AgeOutput.nonce(number, last));
            return cipher.doFinal(sealed, 0, bytes, plain, 0);
        } catch (AEADBadTagException _) {
            throw last
                    ? new AgeException(Code.CUT, "it has lost its end, or its last octets were altered")
                    : new AgeException(
                            Code.ALTERED,
                            "it was altered between octets " + number * SEALED_BYTES + " and "
                                    + (number + 1) * SEALED_BYTES + " after its header");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("ChaCha20-Poly1305 does not decrypt", e);
        }
    }

    @Override
    public void close() throws IOException {
        java.util.Arrays.fill(plain, (byte) 0);
        in.close();
    }
}
