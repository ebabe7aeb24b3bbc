package blackbox.schemas;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.Security;

/// SHA-256, the only hash of this project: the JDK's own, which uses the CPU's instructions, or in FIPS mode
/// the certified module's ([FipsMode]). It is requested from one provider by name, so that no other on the
/// class path can slip in.
public final class Sha256 {
    private static final Provider PROVIDER = provider();

    private Sha256() {}

    /// A fresh digest, owned by the caller's thread.
    public static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256", PROVIDER);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("no SHA-256 in " + PROVIDER, e);
        }
    }

    private static Provider provider() {
        Provider module = FipsMode.module();
        Provider chosen = module == null ? Security.getProvider("SUN") : module;
        if (chosen == null) {
            throw new IllegalStateException("this Java runtime has no security provider SUN");
        }
        return chosen;
    }
}
