package blackbox.vault.age;

import java.security.SecureRandom;

/// What a file is encrypted to.
public sealed interface AgeLock permits AgeRecipient, AgePassphrase {

    /// Encrypts the file's key.
    AgeStanza wrap(byte[] fileKey, SecureRandom random);
}
