package blackbox.schemas;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/// SHA-256 from the JDK's provider, which is required to be there (JCA standard names) and uses the CPU's instructions.
public final class Sha256 {

    private Sha256() {}

    /// A fresh digest, owned by the caller's thread.
    public static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java runtime has no SHA-256", e);
        }
    }
}
