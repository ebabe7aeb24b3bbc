/// Files in the form of age (<https://age-encryption.org/v1>): encrypted to a passphrase or to X25519 public keys, so
/// that others' tools open what is exported here, and the other way round.
///
/// Cryptography is the JDK's, and scrypt Bouncy Castle's. Knows nothing of what it encrypts. Not for FIPS mode, whose
/// modules have no ChaCha20-Poly1305.
@NullMarked
package blackbox.vault.age;

import org.jspecify.annotations.NullMarked;
