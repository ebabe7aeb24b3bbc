package blackbox.schemas;

import java.security.Provider;
import org.jspecify.annotations.Nullable;

/// Whether this process uses only Bouncy Castle's certified module (BCFIPS), in approved-only mode.
///
/// Decided once, on first use, by the system property `blackbox.fips` (the launcher sets it from
/// `BLACKBOX_FIPS`), and never changed. What the module lacks is refused: nothing falls back to the JDK.
public final class FipsMode {
    private static final String PROPERTY = "blackbox.fips";
    private static final String PROVIDER = "org.bouncycastle.jcajce.provider.BouncyCastleFipsProvider";
    private static final @Nullable Provider MODULE = Boolean.getBoolean(PROPERTY) ? load() : null;

    private FipsMode() {}

    /// The certified module; null if FIPS mode is off.
    public static @Nullable Provider module() {
        return MODULE;
    }

    /// Loaded by name, because the same code also runs on a class path without it.
    private static Provider load() {
        System.setProperty("org.bouncycastle.fips.approved_only", "true");
        try {
            Provider provider = Class.forName(PROVIDER)
                    .asSubclass(Provider.class)
                    .getConstructor()
                    .newInstance();
            Object approvedOnly = Class.forName("org.bouncycastle.crypto.CryptoServicesRegistrar")
                    .getMethod("isInApprovedOnlyMode")
                    .invoke(null);
            if (!Boolean.TRUE.equals(approvedOnly)) {
                throw new IllegalStateException("the FIPS module did not enter approved-only mode");
            }
            return provider;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("FIPS mode is on, but the FIPS module did not start: " + e, e);
        }
    }
}
