package blackbox.replay.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.Origins;
import blackbox.replay.content.Window;
import blackbox.replay.content.WrittenWhen;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/// An entry of npm's cache may be of another time, and its digest with it, and nothing else.
class NpmCacheIndexTest {
    private static final long MS = 1_000_000;
    private static final long A_MS = 1_795_611_318_123L;
    private static final long B_MS = 1_795_615_555_456L;

    private static String entry(String key, long ms) {
        return "{\"key\":\"" + key + "\",\"integrity\":\"sha512-x\",\"time\":" + ms + ",\"size\":3}";
    }

    private static String line(String json) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-1").digest(json.getBytes(StandardCharsets.UTF_8));
        return "\n" + HexFormat.of().formatHex(digest) + "\t" + json;
    }

    private static ContentMatch match(String recorded, String actual) throws Exception {
        return NpmCacheIndex.compare(
                new ByteArrayInputStream(recorded.getBytes(StandardCharsets.UTF_8)),
                new ByteArrayInputStream(actual.getBytes(StandardCharsets.UTF_8)),
                new Origins(written(A_MS), written(B_MS)));
    }

    /// By a process that had begun three seconds before.
    private static WrittenWhen written(long ms) {
        return new WrittenWhen() {
            @Override
            public Window at(long octet) {
                return new Window(ms * MS, ms * MS);
            }

            @Override
            public long sinceNs() {
                return (ms - 3_000) * MS;
            }
        };
    }

    @Test
    void anEntryOfAnotherTimeIsTheSame() throws Exception {
        String one = line(entry("é", A_MS)) + line(entry("two", A_MS));
        ContentMatch match = match(one, line(entry("é", B_MS)) + line(entry("two", B_MS)));
        assertNull(match.difference());
        assertEquals(2, match.times().count());
        assertNull(match(line(entry("one", A_MS - 2_000)), line(entry("one", B_MS - 1_000)))
                .difference());
    }

    @Test
    void allElseCounts() throws Exception {
        String one = line(entry("one", A_MS));
        String[] others = {
            line(entry("two", B_MS)),
            line(entry("one", B_MS + 60_000)),
            line(entry("one", B_MS - 60_000)),
            line(entry("one", B_MS)) + line(entry("one", B_MS)),
            line(entry("one", B_MS)).replaceFirst("\n.", "\nx"),
            line(entry("one", B_MS)) + " ",
            "\n" + "0".repeat(40) + "\t" + entry("one", B_MS),
            ""
        };
        for (String other : others) {
            assertNotNull(match(one, other).difference(), other);
            assertNotNull(match(other, one).difference(), other);
        }
    }

    /// Only of what npm has written is it known that the answer may have come long before.
    @Test
    void timesAreOfTheWholeRunOnlyWhereAllLinesHaveTheirDigests() throws Exception {
        String one = line(entry("one", A_MS - 2_000));
        String other = line(entry("one", B_MS - 1_000));
        assertNull(match(one + "\n", other + "\n").difference());
        for (String stranger : new String[] {"\nx", "\n" + "0".repeat(40) + "\t{}"}) {
            assertNotNull(match(one + stranger, other + stranger).difference(), stranger);
            assertNotNull(match(stranger + one, stranger + other).difference(), stranger);
        }
    }

    @Test
    void isInItsFolders() {
        assertTrue(NpmCacheIndex.is("/home/agent/.npm/_cacache/index-v5/00/95/1d151469ed53775d"));
        assertFalse(NpmCacheIndex.is("/home/agent/.npm/_cacache/content-v2/sha512/00/95/1d"));
        assertFalse(NpmCacheIndex.is("/w/index-v5/00/95/1d151469"));
    }
}
