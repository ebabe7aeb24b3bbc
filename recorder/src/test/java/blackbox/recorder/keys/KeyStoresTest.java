package blackbox.recorder.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.NoteSigner;
import blackbox.recorder.RecorderException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What only one of the stores does.
class KeyStoresTest {

    private static final byte[] TEXT = "a note\n".getBytes(StandardCharsets.UTF_8);

    @TempDir
    private Path folder;

    private static KeyAccess access(Secrets secrets) {
        return new KeyAccess(InstantSource.system(), new SecureRandom(), secrets);
    }

    @Test
    void opensslReadsAnEncryptedKeyFile() throws Exception {
        var store = new TestStore.EncryptedFile();
        try (LogKey key = LogKeys.create(folder, store.options(null), access(store.secrets()))) {
            Path file = folder.resolve(key.conf().setting("file"));
            assertTrue(Files.readString(file).startsWith("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
            Path passphrase = folder.resolve("passphrase");
            Files.writeString(passphrase, TestStore.SECRET + "\n");
            Path text = folder.resolve("text");
            Files.write(text, TEXT);
            Path signature = folder.resolve("signature");
            run(
                    "openssl",
                    "pkeyutl",
                    "-sign",
                    "-rawin",
                    "-inkey",
                    file.toString(),
                    "-passin",
                    "file:" + passphrase,
                    "-in",
                    text.toString(),
                    "-out",
                    signature.toString());
            assertTrue(key.first().verifier().verify(TEXT, Files.readAllBytes(signature)));
            String parameters = run("openssl", "asn1parse", "-in", file.toString());
            for (String algorithm : List.of("PBKDF2", "hmacWithSHA256", "aes-256-cbc")) {
                assertTrue(parameters.contains(algorithm), parameters);
            }
        }
    }

    @Test
    void aKeyFileThatOpensslWroteIsRead() throws Exception {
        Path plain = folder.resolve("plain.pem");
        Path file = folder.resolve("encrypted.pem");
        run("openssl", "genpkey", "-algorithm", "ed25519", "-out", plain.toString());
        run(
                "openssl",
                "pkcs8",
                "-topk8",
                "-v2",
                "aes-256-cbc",
                "-in",
                plain.toString(),
                "-out",
                file.toString(),
                "-passout",
                "pass:" + TestStore.SECRET);
        byte[] seed = PrivateKeyPem.ED25519.decrypt(Files.readString(file), TestStore.SECRET.toCharArray());
        byte[] der = Base64.getMimeDecoder().decode(Files.readString(plain).replaceAll("-----[A-Z ]+-----", ""));
        assertEquals(
                HexFormat.of().formatHex(der, der.length - 32, der.length),
                HexFormat.of().formatHex(seed));
        assertThrows(
                IOException.class,
                () -> PrivateKeyPem.ML_DSA_44.decrypt(Files.readString(file), TestStore.SECRET.toCharArray()));
    }

    /// As a shell gives it: `BLACKBOX_PASSPHRASE_FILE=/dev/fd/N … N< <(command)`.
    @Test
    void aPassphraseOutOfAPipeIsForBothKeysOfAPairAndOpensThem() throws Exception {
        Path pipe = folder.resolve("pipe");
        run("mkfifo", pipe.toString());
        var writer = Thread.ofVirtual().start(() -> {
            try {
                Files.writeString(pipe, TestStore.SECRET + "\n");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        Secrets piped = Secrets.of(Map.of(Secrets.PASSPHRASE, pipe.toString()), null);
        var store = new TestStore.EncryptedFile();
        LogKeys.create(folder, store.options(null), access(piped)).close();
        writer.join();
        LogKeys.load(folder, access(piped)).close();
        LogKeys.load(folder, access(store.secrets())).close();
    }

    @Test
    void aPairWhoseSecondKeyCannotBeWrittenLeavesNothing() throws Exception {
        var asked = new AtomicInteger();
        Secrets once = new Secrets() {
            @Override
            public boolean isGiven(String variable) {
                return variable.equals(PASSPHRASE);
            }

            @Override
            public char[] read(String variable, String what) throws RecorderException {
                if (asked.incrementAndGet() > 1) {
                    throw new RecorderException(RecorderException.Code.KEY, "no more");
                }
                return TestStore.SECRET.toCharArray();
            }
        };
        var options = new TestStore.EncryptedFile().options(null);
        assertThrows(RecorderException.class, () -> LogKeys.create(folder, options, access(once)));
        assertEquals(2, asked.get());
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(
                    List.of(),
                    left.filter(each -> each.toString().endsWith(".key")).toList());
        }
    }

    @Test
    void aWrongPassphraseOrNoneOpensNothing() throws Exception {
        var store = new TestStore.EncryptedFile();
        LogKeys.create(folder, store.options(null), access(store.secrets())).close();
        String wrong = refusal(Map.of(Secrets.PASSPHRASE, "wrong horse battery staple"));
        assertTrue(wrong.contains("passphrase"), wrong);
        assertFalse(wrong.contains("staple"), wrong);
        assertTrue(refusal(Map.of()).contains("passphrase"));
    }

    private String refusal(Map<String, String> secrets) {
        var e = assertThrows(RecorderException.class, () -> LogKeys.load(folder, access(TestStore.given(secrets))));
        assertEquals(RecorderException.Code.KEY, e.code());
        return String.valueOf(e.getMessage());
    }

    @Test
    void aKeyFileThatOthersMayReadIsRefused() throws Exception {
        LogKey key = LogKeys.loadOrCreate(folder, access(TestStore.given(Map.of())));
        Files.setPosixFilePermissions(
                folder.resolve(key.conf().setting("file")), PosixFilePermissions.fromString("rw-r-----"));
        assertTrue(refusal(Map.of()).contains("chmod 600"));
    }

    @Test
    void aWrongPinOpensNoToken() throws Exception {
        var token = new TestToken();
        LogKeys.create(folder, token.options(null), access(token.secrets())).close();
        String refusal = refusal(Map.of(Secrets.PIN, "000000"));
        assertTrue(refusal.contains("PIN_INCORRECT"), refusal);
        Files.writeString(
                folder.resolve(LogKeys.CONF),
                Files.readString(folder.resolve(LogKeys.CONF)).replace("libsofthsm2", "libelsewhere"));
        assertTrue(refusal(Map.of(Secrets.PIN, "000000")).contains("no PKCS#11 library"));
    }

    @Test
    void aKeyOfATpmSurvivesItsReset() throws Exception {
        try (var tpm = new TestTpm()) {
            try (LogKey key = LogKeys.create(folder, tpm.options(null), access(tpm.secrets()))) {
                NoteSigner signer = key.first();
                assertTrue(signer.verifier().verify(TEXT, signer.sign(TEXT)));
                tpm.reset();
                assertTrue(signer.verifier().verify(TEXT, signer.sign(TEXT)));
            }
            assertEquals(List.of(), workFolders(), "what passes between the programs is deleted");
        }
    }

    @Test
    void aKeyOfOneTpmIsOfNoUseToAnother() throws Exception {
        try (var mine = new TestTpm();
                var other = new TestTpm()) {
            LogKeys.create(folder, mine.options(null), access(mine.secrets())).close();
            Path conf = folder.resolve(LogKeys.CONF);
            Files.writeString(conf, Files.readString(conf).replace(mine.tcti(), other.tcti()));
            String refusal = refusal(Map.of());
            assertTrue(refusal.contains("tpm2_load"), refusal);
            assertEquals(List.of(), workFolders());
            Files.writeString(conf, Files.readString(conf).replace(other.tcti(), "device:/nowhere"));
            assertTrue(refusal(Map.of()).contains("TPM"));
        }
    }

    private List<String> workFolders() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(Files::isDirectory).map(Path::toString).toList();
        }
    }

    static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), () -> String.join(" ", command) + "\n" + said);
        return said;
    }
}
