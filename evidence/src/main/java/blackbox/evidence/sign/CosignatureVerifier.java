package blackbox.evidence.sign;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.Cosignature;
import java.nio.charset.StandardCharsets;
import java.security.PublicKey;

/// A witness's public key (C2SP tlog-cosignature): type 0x04 Ed25519 or 0x06 ML-DSA-44. What it verifies is
/// the time and signature of one line, over a checkpoint. Immutable and safe to share.
///
/// Whether the time is plausible is not judged here: there is no clock.
public final class CosignatureVerifier extends NamedVerifier {

    private static final int ED25519_LENGTH = 64;
    private static final int ML_DSA_44_LENGTH = 2420;

    private final PublicKey publicKey;

    CosignatureVerifier(VerifierKey key) {
        if (key.type() != KeyType.ED25519_COSIGNATURE && key.type() != KeyType.ML_DSA_44_COSIGNATURE) {
            throw new IllegalArgumentException("not a witness's verifier key: '" + key.encoded() + "'");
        }
        super(key);
        this.publicKey = PublicKeys.decode(key.type(), key.publicKey());
    }

    @Override
    public boolean verify(byte[] text, byte[] line) {
        boolean isMlDsa = key().type() == KeyType.ML_DSA_44_COSIGNATURE;
        Cosignature cosignature = Cosignature.parse(line, isMlDsa ? ML_DSA_44_LENGTH : ED25519_LENGTH);
        if (cosignature == null) {
            return false;
        }
        byte[] message = message(key(), cosignature.epochSeconds(), text);
        return message.length > 0 && PublicKeys.verify(key().type(), publicKey, message, cosignature.signature());
    }

    /// What the witness signs; empty when `text` is not a checkpoint, since a witness signs nothing else.
    static byte[] message(VerifierKey key, long epochSeconds, byte[] text) {
        Checkpoint checkpoint = Checkpoint.parse(new String(text, StandardCharsets.UTF_8));
        if (checkpoint == null) {
            return new byte[0];
        }
        return key.type() == KeyType.ML_DSA_44_COSIGNATURE
                ? Cosignature.mlDsa44Message(key.name(), epochSeconds, checkpoint)
                : Cosignature.ed25519Message(epochSeconds, text);
    }
}
