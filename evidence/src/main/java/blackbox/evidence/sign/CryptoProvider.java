package blackbox.evidence.sign;

import blackbox.schemas.FipsMode;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.Security;
import java.security.Signature;
import org.jspecify.annotations.Nullable;

/// Which JCA provider signatures, keys and randomness of this process come from: the JDK's own, or in FIPS
/// mode Bouncy Castle's certified module ([FipsMode]). [blackbox.schemas.Sha256] follows the same choice.
///
/// Decided once, on first use. The order of providers in `java.security` is neither read nor changed: each
/// algorithm is requested from one provider by name, so no other provider on the class path can slip in. In
/// FIPS mode nothing falls back to the JDK; what the module lacks is refused. Immutable and safe to share.
public final class CryptoProvider {

    private static final String STANDARD_PROVIDER = "org.bouncycastle.jce.provider.BouncyCastleProvider";

    private static final CryptoProvider CURRENT = of(FipsMode.module());

    private final boolean fips;

    /// Randomness, and ML-DSA if it is available at all.
    private final Provider general;

    /// Ed25519 and ECDSA.
    private final Provider curves;

    private CryptoProvider(boolean fips, Provider general, Provider curves) {
        this.fips = fips;
        this.general = general;
        this.curves = curves;
    }

    private static CryptoProvider of(@Nullable Provider fipsModule) {
        return fipsModule == null
                ? new CryptoProvider(false, ofName("SUN"), ofName("SunEC"))
                : new CryptoProvider(true, fipsModule, fipsModule);
    }

    private static Provider ofName(String name) {
        Provider provider = Security.getProvider(name);
        if (provider == null) {
            throw new IllegalStateException("this Java runtime has no security provider " + name);
        }
        return provider;
    }

    /// This process's choice.
    public static CryptoProvider current() {
        return CURRENT;
    }

    /// Whether only approved algorithms of the FIPS module are used.
    public boolean isFips() {
        return fips;
    }

    /// Whether ML-DSA is available. The FIPS module does not have it yet.
    public boolean hasMlDsa() {
        return general.getService("Signature", "ML-DSA-44") != null;
    }

    /// Name and version of the providers, for people.
    public String description() {
        return fips
                ? general.getName() + " " + general.getVersionStr() + ", approved-only mode"
                : general.getName() + " and " + curves.getName() + " of Java " + Runtime.version();
    }

    /// Bouncy Castle's provider of the edition that is on the class path, for its own libraries, which ask for names
    /// that the JDK does not know.
    ///
    /// @throws IllegalStateException when there is none
    public Provider bouncyCastle() {
        if (fips) {
            return general;
        }
        try {
            return Class.forName(STANDARD_PROVIDER)
                    .asSubclass(Provider.class)
                    .getConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Bouncy Castle is not on the class path: " + e, e);
        }
    }

    /// The source of randomness for keys: in FIPS mode the module's own generator.
    public SecureRandom random() {
        try {
            return fips ? SecureRandom.getInstance("DEFAULT", general) : new SecureRandom();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("no random generator in " + general, e);
        }
    }

    /// @throws UnsupportedOperationException when this provider does not have the algorithm
    public Signature signature(String algorithm) {
        try {
            return Signature.getInstance(algorithm, of(algorithm));
        } catch (NoSuchAlgorithmException e) {
            throw lacking(algorithm, e);
        }
    }

    /// @throws UnsupportedOperationException when this provider does not have the algorithm
    public KeyFactory keyFactory(String algorithm) {
        try {
            return KeyFactory.getInstance(algorithm, of(algorithm));
        } catch (NoSuchAlgorithmException e) {
            throw lacking(algorithm, e);
        }
    }

    /// @throws UnsupportedOperationException when this provider does not have the algorithm
    public KeyPairGenerator keyPairGenerator(String algorithm) {
        try {
            return KeyPairGenerator.getInstance(algorithm, of(algorithm));
        } catch (NoSuchAlgorithmException e) {
            throw lacking(algorithm, e);
        }
    }

    private Provider of(String algorithm) {
        return algorithm.startsWith("ML-DSA") ? general : curves;
    }

    private UnsupportedOperationException lacking(String algorithm, GeneralSecurityException e) {
        String mode = fips ? "FIPS mode has no " : "this Java runtime has no ";
        return new UnsupportedOperationException(mode + algorithm + " (" + description() + ")", e);
    }
}
