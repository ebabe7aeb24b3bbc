package blackbox.recorder.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.recorder.RecorderException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The service's TLS key: its own, and those that OpenSSL made.
class TlsKeyFilesTest {

    private static final List<String> NAMES = List.of("localhost", "127.0.0.1", "2001:db8::1", "Recorder.example");

    private final Instant start = Instant.now();
    private final List<String> said = new ArrayList<>();

    @TempDir
    Path folder;

    private static KeyAccess at(Instant now) {
        return new KeyAccess(InstantSource.fixed(now), new SecureRandom(), Secrets.of(Map.of(), null));
    }

    private CertifiedKey own(Instant now, List<String> names) throws RecorderException {
        said.clear();
        return TlsKeyFiles.loadOrCreate(folder.resolve("keys"), names, at(now), said::add);
    }

    /// What was said of the pair is one sentence, and names what else.
    private void announced(String why, CertifiedKey made) {
        String line = String.join("\n", said);
        assertEquals(1, said.size(), line);
        assertTrue(line.contains(", because " + why), line);
        assertTrue(line.contains("fingerprint is " + made.fingerprint()), line);
    }

    @Test
    void itsOwnPairIsMadeOnceAndAnewNearItsEnd() throws Exception {
        CertifiedKey made = own(start, NAMES);
        announced("there was none", made);
        assertEquals("rw-------", mode("keys/tls.key"));
        assertEquals("rw-r--r--", mode("keys/tls.crt"));
        assertEquals(made, own(start.plus(Duration.ofDays(366)), NAMES), "a year later");
        assertEquals(List.of(), said, "nothing to say");
        CertifiedKey renewed = own(start.plus(Duration.ofDays(368)), NAMES);
        announced("the old certificate is valid until ", renewed);
        assertTrue(said.getFirst().contains("need the new one"), said::toString);
        assertNotEquals(made.fingerprint(), renewed.fingerprint(), "in its last month");
        assertNotEquals(made.key(), renewed.key());
        Instant later = start.plus(Duration.ofDays(2_000));
        announced("the old certificate was valid until ", own(later, NAMES));
        assertTrue(
                own(later, NAMES).chain().getFirst().getNotAfter().toInstant().isAfter(later), "long expired");
    }

    @Test
    void itHasEveryNameItIsAskedBy() throws Exception {
        CertifiedKey made = own(start, NAMES);
        assertEquals(made, own(start, List.of("2001:0DB8:0:0::0001", "recorder.EXAMPLE")), "other forms of the same");
        CertifiedKey more = own(start, List.of("192.0.2.7", "localhost"));
        assertNotEquals(made.fingerprint(), more.fingerprint());
        announced("the old certificate is not for 192.0.2.7;", more);
        assertEquals(more, own(start, List.of("192.0.2.7")));
    }

    /// Clients have other clocks, and know this one.
    @Test
    void aClockThatWasSetBackMakesNoOther() throws Exception {
        CertifiedKey made = own(start, NAMES);
        CertifiedKey kept = own(start.minus(Duration.ofDays(3)), NAMES);
        assertEquals(made, kept);
        assertEquals(1, said.size());
        assertTrue(said.getFirst().contains("clock was set back"), said::toString);
        assertTrue(
                said.getFirst()
                        .contains(start.minus(Duration.ofDays(3)).toString().substring(0, 19)),
                said::toString);
        assertEquals(made, own(start, NAMES));
        assertEquals(List.of(), said);
    }

    @Test
    void aKeyNeverShowsWhatItsProviderPrintsOfIt() throws Exception {
        var shown = new PrivateKey() {
            @Override
            public String getAlgorithm() {
                return "Ed25519";
            }

            @Override
            public String getFormat() {
                return "PKCS#8";
            }

            @Override
            public byte[] getEncoded() {
                return new byte[0];
            }

            @Override
            public String toString() {
                return "the private number";
            }
        };
        String said = new CertifiedKey(shown, own(start, NAMES).chain()).toString();
        assertFalse(said.contains("the private number"), said);
    }

    @Test
    void halvesOfTwoPairsAndDamageAreMended() throws Exception {
        own(start, NAMES);
        Path certificate = TlsKeyFiles.certificate(folder.resolve("keys"));
        Path old = Files.copy(certificate, folder.resolve("old.crt"));
        CertifiedKey second = own(start, List.of("192.0.2.7"));
        Files.copy(old, certificate, StandardCopyOption.REPLACE_EXISTING); // a crash before the certificate was written
        CertifiedKey third = own(start, NAMES);
        assertNotEquals(second.key(), third.key());
        announced("the old ones could not be used: ", third);
        assertEquals(third, own(start, NAMES));
        Files.writeString(certificate, "-----BEGIN CERTIFICATE-----\nAAAA\n");
        assertEquals(own(start, NAMES), own(start, NAMES));
    }

    @Test
    void itsOwnKeyIsRefusedOnceOthersCouldReadIt() throws Exception {
        own(start, NAMES);
        chmod("keys/tls.key", "rw-r-----");
        var refused = assertThrows(RecorderException.class, () -> own(start, NAMES));
        assertTrue(String.valueOf(refused.getMessage()).contains("readable by its owner alone"), refused.getMessage());
    }

    private String mode(String name) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve(name)));
    }

    private void chmod(String name, String mode) throws IOException {
        Files.setPosixFilePermissions(folder.resolve(name), PosixFilePermissions.fromString(mode));
    }

    private void openssl(String arguments) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(("openssl " + arguments).split(" "))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
    }

    @BeforeEach
    void aChainByOpenssl() throws Exception {
        openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.crt -subj /CN=CA");
        openssl("req -new -newkey rsa:2048 -nodes -keyout leaf.key -out leaf.csr -subj /CN=recorder.example");
        openssl("x509 -req -in leaf.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -out leaf.crt");
        concatenate("chain.crt", "leaf.crt", "ca.crt");
    }

    private void concatenate(String name, String... parts) throws IOException {
        var text = new StringBuilder();
        for (String part : parts) {
            text.append(Files.readString(folder.resolve(part)));
        }
        Files.writeString(folder.resolve(name), text);
    }

    private CertifiedKey read(String chain, String key, Instant now) {
        return CertifiedKey.read(folder.resolve(chain), folder.resolve(key), now);
    }

    @Test
    void whatOpensslMadeIsRead() throws Exception {
        assertEquals(
                2, read("chain.crt", "leaf.key", start.plusSeconds(60)).chain().size());
        chmod("leaf.key", "r--------");
        assertEquals(
                1, read("leaf.crt", "leaf.key", start.plusSeconds(60)).chain().size());
        assertEquals(
                "EC",
                read("ca.crt", "ca.key", start.plusSeconds(60))
                        .chain()
                        .getFirst()
                        .getPublicKey()
                        .getAlgorithm());
        openssl("req -x509 -newkey ed25519 -nodes -keyout ed.key -out ed.crt -subj /CN=ed");
        CertifiedKey ed = read("ed.crt", "ed.key", start.plusSeconds(60));
        openssl("x509 -in ed.crt -noout -fingerprint -sha256 -out fingerprint");
        assertTrue(Files.readString(folder.resolve("fingerprint")).strip().endsWith("=" + ed.fingerprint()));
    }

    @Test
    void whatCannotServeIsRefusedWithTheReason() throws Exception {
        Instant now = start.plusSeconds(60);
        refused("does not belong to the first certificate", "chain.crt", "ca.key", now);
        concatenate("reversed.crt", "ca.crt", "leaf.crt");
        refused("the key's own certificate comes first", "reversed.crt", "leaf.key", now);
        concatenate("twice.crt", "leaf.crt", "leaf.crt");
        refused("did not issue the one before it", "twice.crt", "leaf.key", now);
        refused("expired at", "chain.crt", "leaf.key", now.plus(Duration.ofDays(31)));
        refused("is not valid before", "chain.crt", "leaf.key", now.minus(Duration.ofDays(1)));
        refused("and has a private key in it", "leaf.key", "leaf.key", now);
        refused("holds no private key", "chain.crt", "empty", now);
        refused("holds no certificate", "empty", "leaf.key", now);
        refused("does not exist", "nowhere.crt", "leaf.key", now);
        chmod("leaf.key", "rw-r-----");
        refused("readable by its owner alone", "chain.crt", "leaf.key", now);
    }

    @Test
    void aKeyInAnotherFormIsRefusedWithTheCommandThatConvertsIt() throws Exception {
        openssl("ec -in ca.key -out sec1.key");
        openssl("pkcs8 -topk8 -in ca.key -out encrypted.key -passout pass:secret");
        openssl("ec -in ca.key -aes256 -passout pass:secret -out traditional.key");
        for (String form : List.of("sec1.key", "encrypted.key", "traditional.key")) {
            chmod(form, "rw-------");
            refused("openssl pkcs8 -topk8 -nocrypt", "ca.crt", form, start.plusSeconds(60));
        }
        for (String form : List.of("encrypted.key", "traditional.key")) {
            refused(form + " is encrypted", "ca.crt", form, start.plusSeconds(60));
        }
        openssl("pkcs8 -topk8 -nocrypt -in sec1.key -out converted.key");
        chmod("converted.key", "rw-------");
        assertEquals(
                1,
                read("ca.crt", "converted.key", start.plusSeconds(60)).chain().size());
    }

    /// All that TLS 1.2 or 1.3 has for signing a handshake.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "RSA -pkeyopt rsa_keygen_bits:2048",
                "RSA-PSS -pkeyopt rsa_keygen_bits:2048",
                "EC -pkeyopt ec_paramgen_curve:P-384",
                "EC -pkeyopt ec_paramgen_curve:P-521",
                "ED25519",
                "ED448"
            })
    void aKeyThatTlsCanUseIsTaken(String kind) throws Exception {
        selfSigned("genpkey -algorithm " + kind + " -out some.key");
        assertEquals(
                1, read("some.crt", "some.key", start.plusSeconds(60)).chain().size());
    }

    /// Each of these would be taken by a server that then fails in every handshake, or that OpenSSL does not talk
    /// to.
    @ParameterizedTest
    @CsvSource({
        "RSA of 1024 bits, genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out some.key",
        "RSA of 512 bits, genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:512 -out some.key",
        "ECDSA on , genpkey -algorithm EC -pkeyopt ec_paramgen_curve:secp256k1 -out some.key",
        "ECDSA on , genpkey -algorithm EC -pkeyopt ec_paramgen_curve:brainpoolP256r1 -out some.key",
        "ECDSA on , genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-224 -out some.key",
        "DSA, genpkey -paramfile dsa.parameters -out some.key"
    })
    void aKeyThatTlsCannotUseIsRefused(String kind, String making) throws Exception {
        if (kind.equals("DSA")) {
            openssl("genpkey -genparam -algorithm DSA -pkeyopt dsa_paramgen_bits:1024 -out dsa.parameters");
        }
        selfSigned(making);
        refused("cannot be used here: " + kind, "some.crt", "some.key", start.plusSeconds(60));
        refused("ECDSA on P-256, P-384 or P-521", "some.crt", "some.key", start.plusSeconds(60));
    }

    private void selfSigned(String making) throws Exception {
        openssl(making);
        chmod("some.key", "rw-------");
        openssl("req -x509 -key some.key -out some.crt -subj /CN=some -days 10");
    }

    private void refused(String reason, String chain, String key, Instant now) throws IOException {
        Files.writeString(folder.resolve("empty"), "");
        chmod("empty", "rw-------");
        var refusal = assertThrows(IllegalArgumentException.class, () -> read(chain, key, now));
        assertTrue(String.valueOf(refusal.getMessage()).contains(reason), refusal.getMessage());
    }
}
