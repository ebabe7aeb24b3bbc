package blackbox.gateway.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Whom the host trusts, and what a run's own authority is like.
class HostTrustTest {
    @TempDir
    Path folder;

    @Test
    void aFileIsTrustedOrNamed() throws Exception {
        RunAuthority system = RunAuthority.create(Instant.now());
        RunAuthority more = RunAuthority.create(Instant.now());
        Path bundle = Files.writeString(folder.resolve("bundle.crt"), "# a comment\n" + system.pem());
        Path extra = Files.writeString(folder.resolve("extra.pem"), more.pem());
        assertEquals(
                List.of(system.certificate()),
                List.of(HostTrust.of(bundle, null).getAcceptedIssuers()));
        assertEquals(2, HostTrust.of(bundle, extra).getAcceptedIssuers().length);
        Path none = folder.resolve("none");
        assertTrue(HostTrust.of(none, null).getAcceptedIssuers().length > 10, "the JDK's");
        for (Path bad : List.of(
                none,
                Files.writeString(folder.resolve("empty"), ""),
                Files.writeString(folder.resolve("broken"), "-----BEGIN CERTIFICATE-----\nAAAA\n"))) {
            var failure = assertThrows(IOException.class, () -> HostTrust.of(bundle, bad));
            assertTrue(String.valueOf(failure.getMessage()).startsWith(bad.toString()), failure.getMessage());
        }
    }

    @Test
    void anAuthorityIsOfItsRun() throws Exception {
        Instant now = Instant.parse("2026-11-27T00:00:00Z");
        var one = RunAuthority.create(now).certificate();
        var other = RunAuthority.create(now).certificate();
        assertEquals(now.minus(Duration.ofDays(1)), one.getNotBefore().toInstant());
        assertEquals(now.plus(Duration.ofDays(30)), one.getNotAfter().toInstant());
        assertEquals(0, one.getBasicConstraints());
        assertTrue(!one.getSerialNumber().equals(other.getSerialNumber()));
        assertTrue(!one.getPublicKey().equals(other.getPublicKey()));
        one.verify(one.getPublicKey());
    }

    @Test
    void certificatesAreKeptByName() {
        RunAuthority authority = RunAuthority.create(Instant.now());
        var first = authority.server("a.example", ClientHello.HTTP_1_1);
        assertEquals(first, authority.server("a.example", ClientHello.HTTP_1_1));
        assertNotEquals(first, authority.server("a.example", ClientHello.HTTP_2));
        for (int name = 0; name < 1_024; name++) {
            authority.server(name + ".example", ClientHello.HTTP_1_1);
        }
        assertTrue(
                !first.equals(authority.server("a.example", ClientHello.HTTP_1_1)),
                "the one that was used least is forgotten");
    }
}
