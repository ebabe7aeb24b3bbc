package blackbox.schemas.sign;

import blackbox.schemas.CryptoProvider;
import blackbox.schemas.log.NoteSigner;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.util.function.Supplier;

/// An ECDSA P-256 private key that signs notes under a name: one in memory, or a handle to one in a device,
/// whose provider then makes the signature. Used by one thread at a time.
public final class EcdsaKey implements NoteSigner {

    private final EcdsaVerifier verifier;
    private final PrivateKey privateKey;
    private final Supplier<Signature> algorithm;

    private EcdsaKey(EcdsaVerifier verifier, PrivateKey privateKey, Supplier<Signature> algorithm) {
        this.verifier = verifier;
        this.privateKey = privateKey;
        this.algorithm = algorithm;
    }

    /// A new key in memory.
    public static EcdsaKey create(String name, SecureRandom random) {
        CryptoProvider provider = CryptoProvider.current();
        try {
            KeyPairGenerator generator = provider.keyPairGenerator("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"), random);
            KeyPair pair = generator.generateKeyPair();
            return new EcdsaKey(
                    EcdsaVerifier.of(name, pair.getPublic()),
                    pair.getPrivate(),
                    () -> provider.signature(PublicKeys.algorithm(KeyType.ECDSA)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("no P-256 in " + provider.description(), e);
        }
    }

    /// A key that another provider holds; `algorithm` gives that provider's `SHA256withECDSA`.
    public static EcdsaKey of(EcdsaVerifier verifier, PrivateKey privateKey, Supplier<Signature> algorithm) {
        return new EcdsaKey(verifier, privateKey, algorithm);
    }

    @Override
    public EcdsaVerifier verifier() {
        return verifier;
    }

    @Override
    public byte[] sign(byte[] text) {
        Signature signature = algorithm.get();
        try {
            signature.initSign(privateKey);
            signature.update(text);
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the key '" + verifier.name() + "' did not sign: " + e.getMessage(), e);
        }
    }
}
