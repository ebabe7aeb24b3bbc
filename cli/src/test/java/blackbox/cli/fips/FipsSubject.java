package blackbox.cli.fips;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.CryptoProvider;
import blackbox.evidence.sign.EcdsaKey;
import blackbox.evidence.sign.MlDsaKey;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.LogKey;
import blackbox.recorder.keys.LogKeys;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.schemas.RunId;
import blackbox.schemas.Sha256;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.PayloadKey;
import blackbox.vault.Vault;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.List;
import java.util.Objects;

/// Runs on the FIPS class path and prints each result on a line of standard output.
public final class FipsSubject {

    static final RunId RUN = new RunId("01jd8x3k9zq4v7w2m5n6p8r0st");
    static final String PAYLOAD = "what the agent was given; ".repeat(10_000);

    private static final int LEAF_LENGTH = 300;
    private static final int LEAVES = 200_000;

    private FipsSubject() {}

    /// @param arguments a folder for keys, a folder with keys that the standard edition made, an ML-DSA
    /// verifier key
    public static void main(String[] arguments) throws Exception {
        say("provider", CryptoProvider.current().description());
        say("sha256", Sha256.digest().getProvider().getName());
        say("random", CryptoProvider.current().random().getProvider().getName());
        Path folder = Path.of(arguments[0]);
        try (LogKey key = LogKeys.loadOrCreate(folder, KeyAccess.system())) {
            say("lines", key.signers().size());
            Files.writeString(folder.resolve("note"), SignedNote.sign("from FIPS mode\n", key.signers()));
        }
        try (LogKey key = LogKeys.load(folder, KeyAccess.system())) {
            say(
                    "opened again",
                    holds(Files.readString(folder.resolve("note")), key.first().verifier()));
        }
        try (LogKey key = LogKeys.load(Path.of(arguments[1]), KeyAccess.system())) {
            say("lines of the standard edition's key", key.signers().size());
            say(
                    "signs with it",
                    holds(SignedNote.sign("x\n", key.signers()), key.first().verifier()));
        }
        var ecdsa = EcdsaKey.create("ecdsa", CryptoProvider.current().random());
        byte[] text = "text".getBytes(StandardCharsets.UTF_8);
        say("ecdsa", ecdsa.verifier().verify(text, ecdsa.sign(text)));
        refused(
                "makes ML-DSA",
                () -> MlDsaKey.create44("x", CryptoProvider.current().random()));
        refused("reads ML-DSA", () -> NoteVerifiers.parse(arguments[2]));
        say("leaves hashed a second", hashesPerSecond());
        encrypt(new DataFolder(folder.resolveSibling("payloads")));
    }

    /// With a key that the test knows, and once with one of its own, in a file that the passphrase protects.
    private static void encrypt(DataFolder data) throws Exception {
        Path plain = Files.createDirectories(data.captures(RUN)).resolve("stdin");
        Files.writeString(plain, PAYLOAD);
        PayloadKeyFile.vault(data).prepare(); // before any run has a key: none is made afterwards
        vault(data).encrypt(RUN, _ -> {});
        say(
                "payload key",
                Files.readAllLines(data.keys().resolve("payload.key")).getFirst());
    }

    /// The payloads of a folder whose key is known.
    static Vault vault(DataFolder data) {
        var key = new PayloadKey.Source() {
            @Override
            public PayloadKey existing() {
                return PayloadKey.of(new byte[PayloadKey.BYTES]);
            }

            @Override
            public PayloadKey existingOrNew() {
                return existing();
            }
        };
        return new Vault(data, key, CryptoProvider.current().random());
    }

    private static boolean holds(String note, NoteVerifier key) {
        return Objects.requireNonNull(SignedNote.parse(note)).signedBy(List.of(key)) != null;
    }

    private static void refused(String what, Runnable attempt) {
        try {
            attempt.run();
            say(what, "yes");
        } catch (UnsupportedOperationException | IllegalArgumentException e) {
            say(what, "no: " + e.getMessage());
        }
    }

    private static long hashesPerSecond() {
        MessageDigest digest = Sha256.digest();
        var leaf = new byte[LEAF_LENGTH];
        long best = Long.MAX_VALUE;
        for (int round = 0; round < 5; round++) {
            long start = System.nanoTime();
            for (int i = 0; i < LEAVES; i++) {
                leaf[0] = digest.digest(leaf)[0];
            }
            best = Math.min(best, System.nanoTime() - start);
        }
        return LEAVES * 1_000_000_000L / best;
    }

    private static void say(String what, Object value) {
        System.out.println(what + "\t" + value);
    }
}
