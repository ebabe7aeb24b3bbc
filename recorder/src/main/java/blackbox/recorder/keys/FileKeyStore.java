package blackbox.recorder.keys;

import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.sign.CryptoProvider;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.MlDsaKey;
import blackbox.files.AtomicFiles;
import blackbox.recorder.RecorderException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Keys in files: an Ed25519 key, and an ML-DSA-44 key beside it if this process has that algorithm. They are
/// text in C2SP's form for note keys, or, if a passphrase was given when they were created, PEM that `openssl
/// pkey` reads.
final class FileKeyStore implements LogKeyStore {

    private static final String CLASSICAL = "file";
    private static final String ML_DSA = "ml-dsa-44-file";

    /// The FIPS module does not derive a key from fewer than 112 bits.
    private static final int FIPS_PASSPHRASE_MIN = 14;

    private final Path folder;
    private final KeyAccess access;

    FileKeyStore(Path folder, KeyAccess access) {
        this.folder = folder;
        this.access = access;
    }

    @Override
    public Opened create(String origin, SequencedMap<String, String> settings) throws RecorderException {
        Ed25519Key classical = Ed25519Key.create(origin, access.random());
        String id = String.format("%08x", classical.verifier().keyId());
        var signers = new ArrayList<NoteSigner>(List.of(classical));
        var written = new LinkedHashMap<String, String>();
        try {
            written.put(CLASSICAL, "log-" + id + ".key");
            write("log-" + id + ".key", PrivateKeyPem.ED25519, classical::encoded, classical.seed());
            if (CryptoProvider.current().hasMlDsa()) {
                MlDsaKey other = MlDsaKey.create44(origin, access.random());
                signers.add(other);
                written.put(ML_DSA, "log-" + id + ".ml-dsa-44.key");
                write("log-" + id + ".ml-dsa-44.key", PrivateKeyPem.ML_DSA_44, other::encoded, other.seed());
            }
        } catch (IOException e) {
            RecorderException failed = LogKeyStore.failed("cannot write a key file in " + folder, e);
            deleteHalf(written.values(), failed);
            throw failed;
        } catch (RecorderException | RuntimeException e) {
            deleteHalf(written.values(), e);
            throw e;
        }
        return new Opened(signers, written, () -> {});
    }

    /// Half a pair is no key.
    private void deleteHalf(Collection<String> names, Exception because) {
        try {
            delete(names);
        } catch (RecorderException e) {
            because.addSuppressed(e);
        }
    }

    private void delete(Collection<String> names) throws RecorderException {
        try {
            for (String name : names) {
                AtomicFiles.delete(folder.resolve(name));
            }
        } catch (IOException e) {
            throw LogKeyStore.failed("cannot delete a key file in " + folder, e);
        }
    }

    /// @param plain the key as text, which stays in memory: only asked for where there is no passphrase
    private void write(String name, PrivateKeyPem pem, Supplier<String> plain, byte[] seed)
            throws IOException, RecorderException {
        try {
            if (!access.secrets().isGiven(Secrets.PASSPHRASE)) {
                OwnerFile.write(folder.resolve(name), plain.get() + "\n");
                return;
            }
            char[] passphrase = passphrase(name);
            try {
                OwnerFile.write(folder.resolve(name), pem.encrypt(seed, passphrase, access.random()));
            } finally {
                Arrays.fill(passphrase, '\0');
            }
        } finally {
            Arrays.fill(seed, (byte) 0);
        }
    }

    private char[] passphrase(String name) throws RecorderException {
        return passphrase(access, name);
    }

    /// The passphrase for a key file, which the caller clears.
    static char[] passphrase(KeyAccess access, String name) throws RecorderException {
        char[] passphrase = access.secrets().read(Secrets.PASSPHRASE, "passphrase for " + name);
        if (CryptoProvider.current().isFips() && passphrase.length < FIPS_PASSPHRASE_MIN) {
            Arrays.fill(passphrase, '\0');
            throw new RecorderException(
                    RecorderException.Code.KEY,
                    "in FIPS mode a passphrase must have at least " + FIPS_PASSPHRASE_MIN + " characters (112 bits)");
        }
        return passphrase;
    }

    @Override
    public Opened open(LogKeyConf conf) throws RecorderException {
        var signers = new ArrayList<NoteSigner>();
        signers.add(open(
                conf.setting(CLASSICAL),
                PrivateKeyPem.ED25519,
                Ed25519Key::parse,
                seed -> Ed25519Key.ofSeed(conf.origin(), seed)));
        String other = conf.settings().get(ML_DSA);
        if (other != null && CryptoProvider.current().hasMlDsa()) {
            signers.add(open(
                    other, PrivateKeyPem.ML_DSA_44, MlDsaKey::parse, seed -> MlDsaKey.ofSeed44(conf.origin(), seed)));
        }
        return new Opened(signers, conf.settings(), () -> {});
    }

    /// The key in a file. What was read and what it was decrypted to is cleared: keys copy theirs.
    ///
    /// @param plain makes the key of the file's octets
    /// @param ofSeed makes it of the seed that they decrypt to
    private NoteSigner open(
            String name, PrivateKeyPem pem, Function<byte[], NoteSigner> plain, Function<byte[], NoteSigner> ofSeed)
            throws RecorderException {
        byte[] octets = new byte[0];
        byte[] seed = new byte[0];
        try {
            octets = OwnerFile.readSecret(folder.resolve(name));
            if (!PrivateKeyPem.isOne(octets)) {
                return plain.apply(octets);
            }
            seed = decrypt(pem, new String(octets, StandardCharsets.US_ASCII), name);
            return ofSeed.apply(seed);
        } catch (IOException e) {
            throw LogKeyStore.failed("cannot read the key file " + folder.resolve(name), e);
        } finally {
            Arrays.fill(octets, (byte) 0);
            Arrays.fill(seed, (byte) 0);
        }
    }

    private byte[] decrypt(PrivateKeyPem pem, String text, String name) throws RecorderException {
        char[] passphrase = passphrase(name);
        try {
            return pem.decrypt(text, passphrase);
        } catch (IOException e) {
            throw new RecorderException(
                    RecorderException.Code.KEY,
                    "cannot open the key file " + folder.resolve(name) + ": " + e.getMessage(),
                    e);
        } finally {
            Arrays.fill(passphrase, '\0');
        }
    }

    @Override
    public void destroy(LogKeyConf conf) throws RecorderException {
        delete(Stream.of(CLASSICAL, ML_DSA)
                .map(conf.settings()::get)
                .filter(Objects::nonNull)
                .toList());
    }
}
