package blackbox.recorder.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.evidence.sign.Ed25519Key;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The formats of `schemas/keys.md`, version 1, octet for octet.
class LogKeyConfTest {

    private static final String GOLDEN = """
            blackbox/log-key/v1
            origin blackbox/log/golden
            valid-from 2026-11-22T02:00:00Z
            valid-until 2028-11-22T02:00:00Z
            store file
            key blackbox/log/golden+ID+KEY
            key blackbox/log/golden+ID2+KEY2
            file log-ID.key
            ml-dsa-44-file log-ID.ml-dsa-44.key
            """;

    @Test
    void version1() {
        LogKeyConf conf = LogKeyConf.parse(GOLDEN);
        assertEquals(GOLDEN, conf.text());
        assertEquals(StoreKind.FILE, conf.store());
        assertEquals(Instant.parse("2028-11-22T02:00:00Z"), conf.validUntil());
        assertEquals(List.of("blackbox/log/golden+ID+KEY", "blackbox/log/golden+ID2+KEY2"), conf.keys());
        assertEquals("log-ID.key", conf.setting("file"));
        String endless = GOLDEN.replace("valid-until 2028-11-22T02:00:00Z", "valid-until -");
        assertEquals(endless, LogKeyConf.parse(endless).text());
    }

    @Test
    void whatIsNotVersion1IsRefused() {
        for (String bad : List.of(
                "",
                GOLDEN.replace("/v1", "/v2"),
                GOLDEN.replace("store file", "store paper"),
                GOLDEN.replace("store file\n", ""),
                GOLDEN.replace("2026", "soon"),
                GOLDEN.replace("file log", "origin again\nfile log"),
                GOLDEN.replaceAll("key .*\n", ""),
                GOLDEN + "word\n")) {
            assertThrows(IllegalArgumentException.class, () -> LogKeyConf.parse(bad), bad);
        }
    }

    /// The private key of RFC 8032's first test, as `keys/*.key` has held it since the first version.
    @Test
    void aPlainPrivateKeyOfTheFirstVersion() {
        String golden = "PRIVATE+KEY+golden+9f1fc826+AZ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g";
        assertEquals(golden, Ed25519Key.parse(golden).encoded());
    }
}
