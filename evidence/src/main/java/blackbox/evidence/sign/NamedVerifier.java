package blackbox.evidence.sign;

import blackbox.evidence.log.NoteVerifier;

/// What verifiers of all kinds share: the key under its name. Two are equal when their verifier keys are.
abstract sealed class NamedVerifier implements NoteVerifier
        permits CosignatureVerifier, EcdsaVerifier, Ed25519Verifier, MlDsaVerifier {

    private final VerifierKey key;

    NamedVerifier(VerifierKey key) {
        this.key = key;
    }

    VerifierKey key() {
        return key;
    }

    @Override
    public final String encoded() {
        return key.encoded();
    }

    @Override
    public final String name() {
        return key.name();
    }

    @Override
    public final int keyId() {
        return key.id();
    }

    @Override
    public final boolean equals(Object other) {
        return other instanceof NamedVerifier that && encoded().equals(that.encoded());
    }

    @Override
    public final int hashCode() {
        return key.id();
    }

    @Override
    public final String toString() {
        return encoded();
    }
}
