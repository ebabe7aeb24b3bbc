package blackbox.cli.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.node.serve.ApiAddress;
import blackbox.recorder.keys.CertifiedKey;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.TlsKeyFiles;
import blackbox.schemas.folder.DataFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/// When `serve` speaks TLS, and with what. Nothing listens here.
class ListenOptionsTest {

    @TempDir
    Path folder;

    private @Nullable CertifiedKey tls(String... arguments) throws Exception {
        ListenOptions options = CommandLine.populateCommand(new ListenOptions(), arguments);
        ApiAddress address = options.address();
        options.check(address);
        return options.tls(new DataFolder(folder), address, KeyAccess.system(), _ -> {});
    }

    private static CertifiedKey required(@Nullable CertifiedKey key) {
        return Objects.requireNonNull(key, "no TLS");
    }

    @Test
    void onLoopbackThereIsNoTls() throws Exception {
        assertNull(tls());
        assertNull(tls("--listen", "[::1]:0"));
        assertTrue(Files.notExists(folder.resolve("keys")));
    }

    @Test
    void beyondLoopbackACertificateIsMadeForItsNamesAndAddresses() throws Exception {
        CertifiedKey made = required(tls("--listen", "[::]:7575", "--name", "Recorder.example"));
        assertEquals(made, tls("--listen", "[::]:7575", "--name", "recorder.example"), "the same at the next start");
        Set<String> names = names(made);
        assertTrue(names.contains("recorder.example") && names.contains("localhost"), names::toString);
        assertNull(tls("--listen", "[::]:7575", "--insecure"));
    }

    private static Set<String> names(CertifiedKey key) throws Exception {
        var names = new HashSet<String>();
        key.chain().getFirst().getSubjectAlternativeNames().forEach(each -> names.add(String.valueOf(each.get(1))));
        return names;
    }

    @Test
    void aGivenCertificateIsUsedOnLoopbackToo() throws Exception {
        CertifiedKey made = required(tls("--listen", "[::]:7575"));
        String certificate = TlsKeyFiles.certificate(folder.resolve("keys")).toString();
        String key = folder.resolve("keys/tls.key").toString();
        CertifiedKey given = required(tls("--tls-cert", certificate, "--tls-key", key));
        assertEquals(made.fingerprint(), given.fingerprint());
        refused(
                "does not exist",
                "--tls-cert",
                certificate,
                "--tls-key",
                folder.resolve("none").toString());
        refused("holds no private key", "--tls-cert", certificate, "--tls-key", certificate);
        refused("--insecure means no TLS", "--insecure", "--tls-cert", certificate, "--tls-key", key);
        refused("together or not at all", "--tls-cert", certificate);
        refused("together or not at all", "--tls-key", key);
    }

    @Test
    void aNameThatNoHostCanHaveIsRefused() {
        for (String name : List.of("", "a b", "*.x", "x:7575", "fe80::1%eth0")) {
            refused("--name: '" + name + "' is neither a host name nor an IP address", "--name", name);
        }
    }

    @Test
    void namesAreThoseThatCertificatesAndRequestsHave() throws Exception {
        CertifiedKey made = required(tls("--listen", "[::]:0", "--name", "bücher.example", "--name", "[2001:db8::1]"));
        assertTrue(made.hostNames().contains("xn--bcher-kva.example"), made.hostNames()::toString);
        assertEquals(
                made.fingerprint(),
                required(tls("--listen", "[::]:0", "--name", "bücher.example", "--name", "[2001:db8::1]"))
                        .fingerprint());
    }

    private void refused(String reason, String... arguments) {
        var refusal = assertThrows(CommandException.class, () -> tls(arguments));
        assertEquals(ExitCodes.BAD_INPUT, refusal.exitCode());
        assertTrue(String.valueOf(refusal.getMessage()).contains(reason), refusal.getMessage());
    }
}
