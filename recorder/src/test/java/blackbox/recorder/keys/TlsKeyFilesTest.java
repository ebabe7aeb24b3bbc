package blackbox.recorder.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The service's TLS key: its own, and those that OpenSSL made.
class TlsKeyFilesTest {

    private static final List<String> NAMES = List.of("localhost", "127.0.0.1", "2001:db8::1", "Recorder.example");

    private final Instant start = Instant.now();

    @TempDir
    Path folder;

    private static KeyAccess at(Instant now) {
        return new KeyAccess(InstantSource.fixed(now), new SecureRandom(), Secrets.of(Map.of(), null));
    }

    private TlsKey own(Instant now, List<String> names) throws RecorderException {
        return TlsKeyFiles.loadOrCreate(folder.resolve("keys"), names, at(now));
    }

    @Test
    void itsOwnPairIsMadeOnceAndAnewNearItsEnd() throws Exception {
        TlsKey made = own(start, NAMES);
        assertEquals("rw-------", mode("keys/tls.key"));
        assertEquals("rw-r--r--", mode("keys/tls.crt"));
        assertEquals(made, own(start.plus(Duration.ofDays(366)), NAMES), "a year later");
        TlsKey renewed = own(start.plus(Duration.ofDays(368)), NAMES);
        assertNotEquals(made.fingerprint(), renewed.fingerprint(), "in its last month");
        assertNotEquals(made.key(), renewed.key());
        Instant later = start.plus(Duration.ofDays(2_000));
        assertTrue(
                own(later, NAMES).chain().getFirst().getNotAfter().toInstant().isAfter(later), "long expired");
    }

    @Test
    void itHasEveryNameItIsAskedBy() throws Exception {
        TlsKey made = own(start, NAMES);
        assertEquals(made, own(start, List.of("2001:0DB8:0:0::0001", "recorder.EXAMPLE")), "other forms of the same");
        TlsKey more = own(start, List.of("192.0.2.7", "localhost"));
        assertNotEquals(made.fingerprint(), more.fingerprint());
        assertEquals(more, own(start, List.of("192.0.2.7")));
    }

    @Test
    void halvesOfTwoPairsAndDamageAreMended() throws Exception {
        own(start, NAMES);
        Path certificate = TlsKeyFiles.certificate(folder.resolve("keys"));
        Path old = Files.copy(certificate, folder.resolve("old.crt"));
        TlsKey second = own(start, List.of("192.0.2.7"));
        Files.copy(old, certificate, StandardCopyOption.REPLACE_EXISTING); // a crash before the certificate was written
        TlsKey third = own(start, NAMES);
        assertNotEquals(second.key(), third.key());
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

    private TlsKey read(String chain, String key, Instant now) {
        return TlsKeyFiles.read(folder.resolve(chain), folder.resolve(key), now);
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
        TlsKey ed = read("ed.crt", "ed.key", start.plusSeconds(60));
        openssl("x509 -in ed.crt -noout -fingerprint -sha256 -out fingerprint");
        assertTrue(Files.readString(folder.resolve("fingerprint")).strip().endsWith("=" + ed.fingerprint()));
    }

    @Test
    void whatCannotServeIsRefusedWithTheReason() throws Exception {
        Instant now = start.plusSeconds(60);
        refused("does not belong to the first certificate", "chain.crt", "ca.key", now);
        concatenate("reversed.crt", "ca.crt", "leaf.crt");
        refused("the server's own certificate comes first", "reversed.crt", "leaf.key", now);
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
        for (String form : List.of("sec1.key", "encrypted.key")) {
            chmod(form, "rw-------");
            refused("openssl pkcs8 -topk8 -nocrypt", "ca.crt", form, start.plusSeconds(60));
        }
        openssl("pkcs8 -topk8 -nocrypt -in sec1.key -out converted.key");
        chmod("converted.key", "rw-------");
        assertEquals(
                1,
                read("ca.crt", "converted.key", start.plusSeconds(60)).chain().size());
    }

    private void refused(String reason, String chain, String key, Instant now) throws IOException {
        Files.writeString(folder.resolve("empty"), "");
        chmod("empty", "rw-------");
        var refusal = assertThrows(IllegalArgumentException.class, () -> read(chain, key, now));
        assertTrue(String.valueOf(refusal.getMessage()).contains(reason), refusal.getMessage());
    }
}
