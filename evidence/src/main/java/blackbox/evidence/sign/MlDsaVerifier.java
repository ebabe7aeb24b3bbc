package blackbox.evidence.sign;

import java.security.PublicKey;

/// An ML-DSA-44 or ML-DSA-65 public key under a name (FIPS 204; pure, with an empty context). Immutable.
///
/// C2SP assigns 0x06 to ML-DSA-44 cosignatures on checkpoints and nothing to signatures over arbitrary notes,
/// which key statements need; so these keys are of type 0xff with an identifier of ours ([KeyType]).
public final class MlDsaVerifier extends NamedVerifier {

    private final PublicKey publicKey;

    MlDsaVerifier(VerifierKey key) {
        if (key.type() != KeyType.ML_DSA_44 && key.type() != KeyType.ML_DSA_65) {
            throw new IllegalArgumentException("not an ML-DSA verifier key: '" + key.encoded() + "'");
        }
        super(key);
        this.publicKey = PublicKeys.decode(key.type(), key.publicKey());
    }

    @Override
    public boolean verify(byte[] text, byte[] signature) {
        return PublicKeys.verify(key().type(), publicKey, text, signature);
    }
}
