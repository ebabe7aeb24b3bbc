package blackbox.recorder.keys;

import blackbox.evidence.sign.CryptoProvider;
import java.security.SecureRandom;
import java.time.InstantSource;

/// What opening or creating a key needs from its environment.
///
/// @param random from the provider that this process has chosen
/// @param secrets where passphrases and PINs come from
public record KeyAccess(InstantSource clock, SecureRandom random, Secrets secrets) {

    /// This machine's clock, this process's randomness, and the environment's secrets.
    public static KeyAccess system() {
        return new KeyAccess(
                InstantSource.system(),
                CryptoProvider.current().random(),
                Secrets.of(System.getenv(), System.console()));
    }
}
