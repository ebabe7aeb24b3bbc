package blackbox.node.doctor;

import blackbox.evidence.sign.CryptoProvider;
import blackbox.node.openssl.Openssl;
import blackbox.recorder.RecorderException;
import blackbox.recorder.keys.LogKeyConf;
import blackbox.recorder.keys.LogKeys;
import blackbox.recorder.keys.StoreKind;
import blackbox.schemas.folder.DataFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/// Algorithms and keys: where they come from, whether the long-term key exists and is still valid.
final class Keys {

    private static final Duration WARNING = Duration.ofDays(30);

    /// Where Debian installs the best-known PKCS#11 libraries; any other can be given by its path.
    private static final List<String> LIBRARIES = List.of(
            "/usr/lib/softhsm/libsofthsm2.so",
            "/usr/lib/x86_64-linux-gnu/opensc-pkcs11.so",
            "/usr/lib/x86_64-linux-gnu/libykcs11.so.2");

    private Keys() {}

    static List<Check> look(Path data, Instant now) {
        return List.of(algorithms(), key(new DataFolder(data).keys(), now), pkcs11());
    }

    private static Check algorithms() {
        CryptoProvider provider = CryptoProvider.current();
        if (provider.isFips()) {
            return Check.ok("algorithms", provider.description() + "; FIPS mode leaves out ML-DSA signature lines");
        }
        Openssl openssl = Openssl.load();
        String sooner =
                openssl == null ? "no libcrypto.so.3; verifying long runs takes longer without it" : openssl.version();
        return Check.ok("algorithms", provider.description() + "; " + sooner);
    }

    private static Check pkcs11() {
        List<String> there = LIBRARIES.stream()
                .filter(library -> Files.isReadable(Path.of(library)))
                .toList();
        return there.isEmpty()
                ? Check.absent(
                        "pkcs11",
                        "none of the usual libraries found: " + String.join(", ", LIBRARIES),
                        "apt-get install softhsm2 or opensc, or name your token's library with keys create --module")
                : Check.ok("pkcs11", String.join(", ", there));
    }

    private static Check key(Path keys, Instant now) {
        try {
            LogKeyConf conf = LogKeys.conf(keys);
            if (conf == null) {
                return Check.ok(
                        "log-key",
                        "none yet; the first recording creates one in a file, or create it now: blackbox keys create");
            }
            Check store = store(conf);
            return store.state() == Check.State.OK ? validity(conf, store, now) : store;
        } catch (RecorderException e) {
            return Check.missing("log-key", String.valueOf(e.getMessage()), "restore keys/log.conf from a backup");
        }
    }

    private static Check validity(LogKeyConf conf, Check store, Instant now) {
        Instant end = conf.validUntil();
        if (end == null || now.plus(WARNING).isBefore(end)) {
            return store;
        }
        return now.isBefore(end)
                ? Check.absent("log-key", "it expires at " + end, "before then: blackbox keys rotate")
                : Check.missing(
                        "log-key",
                        "it expired at " + end + " and no longer signs anything",
                        "start a new log: move the data folder's log/ and keys/ aside");
    }

    private static Check store(LogKeyConf conf) {
        String detail = conf.store().word() + " " + conf.settings();
        String library = conf.settings().get("module");
        if (conf.store() == StoreKind.PKCS11 && (library == null || !Files.isReadable(Path.of(library)))) {
            return Check.missing("log-key", detail, "install the token's PKCS#11 library");
        }
        String tcti = conf.settings().getOrDefault("tcti", "");
        String device = tcti.startsWith("device:") ? tcti.substring("device:".length()) : "/";
        return conf.store() == StoreKind.TPM && !Files.exists(Path.of(device))
                ? Check.missing("log-key", detail, "enable the TPM and load its driver")
                : Check.ok("log-key", detail);
    }
}
