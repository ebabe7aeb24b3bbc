/// Keys that sign and verify notes: Ed25519, ECDSA P-256, ML-DSA, and the cosignatures of witnesses.
///
/// All through JCA, from the provider that [blackbox.evidence.sign.CryptoProvider] has chosen; an
/// [Ed25519Shortcut] may find the same result faster. Keys are values here; storing them on disk or in a
/// device, and with which permissions, is the recorder's business.
@NullMarked
package blackbox.evidence.sign;

import org.jspecify.annotations.NullMarked;
