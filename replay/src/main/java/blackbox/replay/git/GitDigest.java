package blackbox.replay.git;

import blackbox.schemas.FipsMode;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;

/// The checksum of git, and of others, which nothing here relies on for trust.
public final class GitDigest {

    private GitDigest() {}

    /// A fresh SHA-1.
    static MessageDigest sha1() {
        Provider module = FipsMode.module();
        try {
            return module == null ? MessageDigest.getInstance("SHA-1") : MessageDigest.getInstance("SHA-1", module);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java runtime has no SHA-1", e);
        }
    }

    /// The SHA-1 of the first octets.
    public static byte[] sha1(byte[] octets, int length) {
        MessageDigest digest = sha1();
        digest.update(octets, 0, length);
        return digest.digest();
    }
}
