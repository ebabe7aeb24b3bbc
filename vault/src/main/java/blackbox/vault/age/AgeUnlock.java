package blackbox.vault.age;

import org.jspecify.annotations.Nullable;

/// What a file is opened with.
public sealed interface AgeUnlock permits AgeIdentity, AgePassphrase {

    /// The file's key, or null if the stanza is not for this one.
    ///
    /// @throws AgeException `MALFORMED` when it is of this kind and cannot be one
    byte @Nullable [] unwrap(AgeStanza stanza) throws AgeException;
}
