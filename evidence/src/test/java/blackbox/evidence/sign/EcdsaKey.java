package blackbox.evidence.sign;

import blackbox.evidence.log.NoteSigner;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;

/// An ECDSA P-256 private key in memory that signs notes under a name: Blackbox's own are in a TPM or a token. Used by
/// one thread at a time.
public final class EcdsaKey implements NoteSigner {

    private final EcdsaVerifier verifier;
    private final PrivateKey privateKey;

    private EcdsaKey(EcdsaVerifier verifier, PrivateKey privateKey) {
        this.verifier = verifier;
        this.privateKey = privateKey;
    }

    /// A new key in memory.
    public static EcdsaKey create(String name, SecureRandom random) {
        CryptoProvider provider = CryptoProvider.current();
        try {
            KeyPairGenerator generator = provider.keyPairGenerator("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"), random);
            KeyPair pair = generator.generateKeyPair();
            return new EcdsaKey(EcdsaVerifier.of(name, pair.getPublic()), pair.getPrivate());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("no P-256 in " + provider.description(), e);
        }
    }

    @Override
    public EcdsaVerifier verifier() {
        return verifier;
    }

    @Override
    public byte[] sign(byte[] text) {
        Signature signature = CryptoProvider.current().signature(PublicKeys.algorithm(KeyType.ECDSA));
        try {
            signature.initSign(privateKey);
            signature.update(text);
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the key '" + verifier.name() + "' did not sign: " + e.getMessage(), e);
        }
    }
}
