package blackbox.recorder.keys;

import blackbox.evidence.sign.CryptoProvider;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import org.bouncycastle.asn1.ASN1Encodable;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.ASN1OctetString;
import org.bouncycastle.asn1.ASN1TaggedObject;
import org.bouncycastle.asn1.DEROctetString;
import org.bouncycastle.asn1.DERTaggedObject;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.PKCS8Generator;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.openssl.jcajce.JceOpenSSLPKCS8DecryptorProviderBuilder;
import org.bouncycastle.openssl.jcajce.JceOpenSSLPKCS8EncryptorBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.OutputEncryptor;
import org.bouncycastle.pkcs.PKCS8EncryptedPrivateKeyInfo;
import org.bouncycastle.pkcs.PKCSException;

/// Seeds as encrypted PKCS#8 in PEM (RFC 5958, RFC 8018): PBKDF2 with HMAC-SHA256 and AES-256 in CBC mode, as
/// `openssl pkey` reads and writes them.
enum PrivateKeyPem {
    /// RFC 8410, section 7.
    ED25519("1.3.101.112"),
    /// The form with only the seed (RFC 9881, section 6).
    ML_DSA_44("2.16.840.1.101.3.4.3.17"),
    /// The data folder's key for payloads, under NIST's id-aes256-GCM: no key pair, but 32 octets as well.
    PAYLOAD("2.16.840.1.101.3.4.1.46");

    private static final String FIRST_LINE = "-----BEGIN ENCRYPTED PRIVATE KEY-----";

    /// About a quarter of a second on a slow machine, once for each key that is opened.
    private static final int ITERATIONS = 600_000;

    private static final int SEED_LENGTH = 32;

    private final String algorithm;

    PrivateKeyPem(String algorithm) {
        this.algorithm = algorithm;
    }

    /// Whether a key file's text is of this kind.
    static boolean isOne(byte[] text) {
        byte[] line = FIRST_LINE.getBytes(StandardCharsets.US_ASCII);
        return text.length >= line.length && Arrays.equals(text, 0, line.length, line, 0, line.length);
    }

    /// The seed, encrypted.
    String encrypt(byte[] seed, char[] passphrase, SecureRandom random) throws IOException {
        ASN1Encodable octets = new DEROctetString(seed);
        ASN1Encodable key = this == ML_DSA_44 ? new DERTaggedObject(false, 0, octets) : octets;
        var info = new PrivateKeyInfo(new AlgorithmIdentifier(new ASN1ObjectIdentifier(algorithm)), key);
        try {
            OutputEncryptor encryptor = new JceOpenSSLPKCS8EncryptorBuilder(PKCS8Generator.AES_256_CBC)
                    .setProvider(CryptoProvider.current().bouncyCastle())
                    .setPRF(PKCS8Generator.PRF_HMACSHA256)
                    .setIterationCount(ITERATIONS)
                    .setRandom(random)
                    .setPassword(passphrase)
                    .build();
            var text = new StringWriter();
            try (var pem = new JcaPEMWriter(text)) {
                pem.writeObject(new PKCS8Generator(info, encryptor));
            }
            return text.toString();
        } catch (OperatorCreationException e) {
            throw new IOException("the key could not be encrypted: " + LogKeyStore.reason(e), e);
        }
    }

    /// The seed in what [#encrypt] or `openssl pkcs8` wrote.
    ///
    /// @throws IOException when the passphrase is wrong, the file damaged or the key another kind of key
    byte[] decrypt(String text, char[] passphrase) throws IOException {
        try (var pem = new PEMParser(new StringReader(text))) {
            if (!(pem.readObject() instanceof PKCS8EncryptedPrivateKeyInfo encrypted)) {
                throw new IOException("it does not hold an encrypted private key");
            }
            PrivateKeyInfo info = encrypted.decryptPrivateKeyInfo(new JceOpenSSLPKCS8DecryptorProviderBuilder()
                    .setProvider(CryptoProvider.current().bouncyCastle())
                    .build(passphrase));
            return seed(info);
        } catch (OperatorCreationException | PKCSException e) {
            throw new IOException(
                    "the passphrase does not open it, or it is damaged (" + LogKeyStore.reason(e) + ")", e);
        }
    }

    private byte[] seed(PrivateKeyInfo info) throws IOException {
        if (!info.getPrivateKeyAlgorithm().getAlgorithm().getId().equals(algorithm)) {
            throw new IOException("it holds a key of another kind than " + name());
        }
        ASN1Encodable key = info.parsePrivateKey();
        ASN1OctetString octets = this == ML_DSA_44
                ? ASN1OctetString.getInstance(ASN1TaggedObject.getInstance(key), false)
                : ASN1OctetString.getInstance(key);
        if (octets.getOctets().length != SEED_LENGTH) {
            throw new IOException("its private key is not a seed of " + SEED_LENGTH + " octets");
        }
        return octets.getOctets();
    }
}
