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
import org.junit.jupiter.api.Test;

/// Logs of npm that say the same: what is done side by side may be over in another order, and take another time.
class NpmLogTest {
    private static final long SECOND = 1_000_000_000;
    private static final long BEGAN = 1_795_611_318 * SECOND;
    private static final String[] ONE = {
        "verbose title npm ci",
        "silly logfile done cleaning log files",
        "timing arborist:ctor Completed in 20ms",
        "http fetch GET 200 http://registry/a 5621ms (cache miss)",
        "http fetch GET 200 http://registry/b 705ms (cache miss)",
        "timing reifyNode:node_modules/a Completed in 9002ms",
        "timing reifyNode:node_modules/b Completed in 8000ms",
        "timing reify:unpack Completed in 10000ms",
        "verbose stack Error: x\n    at y",
        "silly ADD node_modules/b",
        "silly ADD node_modules/a",
    };

    private static WrittenWhen after(long seconds) {
        return new WrittenWhen() {
            @Override
            public Window at(long octet) {
                return new Window(BEGAN, BEGAN + seconds * SECOND);
            }

            @Override
            public long sinceNs() {
                return BEGAN;
            }
        };
    }

    private static String log(String... entries) {
        var log = new StringBuilder();
        for (int i = 0; i < entries.length; i++) {
            for (String line : entries[i].split("\n")) {
                log.append(i).append(' ').append(line).append('\n');
            }
        }
        return log.toString();
    }

    private static ContentMatch match(String recorded, String actual) throws Exception {
        return compare(recorded, actual).match();
    }

    private static NpmLog.Compared compare(String recorded, String actual) throws Exception {
        return NpmLog.compare(
                new ByteArrayInputStream(recorded.getBytes(StandardCharsets.UTF_8)),
                new ByteArrayInputStream(actual.getBytes(StandardCharsets.UTF_8)),
                new Origins(after(20), after(20)));
    }

    /// The recorded entries with some in other places, and each part replaced.
    private static String log(int[] order, String... replaced) {
        var entries = new String[order.length];
        for (int i = 0; i < order.length; i++) {
            entries[i] = ONE[order[i]];
            for (int each = 0; each < replaced.length; each += 2) {
                entries[i] = entries[i].replace(replaced[each], replaced[each + 1]);
            }
        }
        return log(entries);
    }

    @Test
    void whatIsDoneSideBySideMayBeOverInAnotherOrder() throws Exception {
        int[] order = {0, 2, 1, 4, 3, 6, 5, 7, 8, 9, 10};
        ContentMatch match = match(log(ONE), log(order, "5621ms", "31ms", "10000ms", "4000ms", "20ms", "30ms"));
        assertNull(match.difference(), match::toString);
        assertEquals(3, match.durations().count());
        assertEquals(6, compare(log(ONE), log(order)).moved());
        assertEquals(0, compare(log(ONE), log(ONE)).moved());
    }

    /// Which attempt it was is told by connections that were lost, and not by what was asked.
    @Test
    void aDownloadMayNeedMoreAttempts() throws Exception {
        int[] same = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
        String more = log(same, "5621ms (", "9999ms attempt #2 (");
        assertNull(match(log(ONE), more).difference());
        assertNull(match(more, log(ONE)).difference());
        assertNull(match(more, more.replace("#2", "#3")).difference());
        assertEquals(1, compare(log(ONE), more).moved());
        assertNotNull(match(log(ONE), more.replace("attempt #2", "attempt two")).difference());
        assertNotNull(match(log(ONE), more.replace("attempt #2 (cache miss)", "attempt #2"))
                .difference());
        assertNotNull(
                match(log(ONE), log(same, "10000ms", "10000ms attempt #2")).difference());
    }

    @Test
    void allElseCounts() throws Exception {
        int[] same = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
        String[][] others = {
            {"registry/a", "registry/c"},
            {"200 http://registry/a", "404 http://registry/a"},
            {"(cache miss)", "(cache hit)"},
            {"npm ci", "npm install"},
            {"at y", "at z"},
            {"5621ms", "25621ms"}, // longer than it ran
            {"5621ms", "5621s"},
            {"Completed in 20ms", "Completed in 20"},
        };
        for (String[] each : others) {
            assertNotNull(match(log(ONE), log(same, each)).difference(), each[0]);
        }
        int[][] orders = {
            {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 9}, // the order in which npm decides
            {2, 1, 0, 3, 4, 5, 6, 7, 8, 9, 10},
            {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
            {0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10},
            {0, 1, 2, 3, 3, 5, 6, 7, 8, 9, 10},
        };
        for (int[] order : orders) {
            assertNotNull(match(log(ONE), log(order)).difference(), log(order));
        }
    }

    /// Only entries about timing and HTTP say how long something took; elsewhere it may be a setting.
    @Test
    void aDurationOfAnotherEntryIsComparedAsAnywhere() throws Exception {
        String[][] pairs = {
            {"verbose argv \"--fetch-timeout=5000ms\"", "verbose argv \"--fetch-timeout=9000ms\""},
            {"silly waited 5s", "silly waited 15s"},
            {"silly waited 5000ms", "silly waited 9000ms"},
            {"timing a Completed in 5s", "timing a Completed in 9s"},
            {"timing a=5000ms Completed", "timing a=9000ms Completed"},
            {"timing a\n    waits 5000ms", "timing a\n    waits 9000ms"},
            {"verbose a\ntiming b 5000ms", "verbose a\ntiming b 9000ms"},
        };
        for (String[] each : pairs) {
            String after = "timing b Completed in 70ms";
            assertNotNull(
                    match(log(ONE[0], each[0], after), log(ONE[0], each[1], after))
                            .difference(),
                    each[0]);
        }
        String[] nine = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "nine\nlines"};
        ContentMatch match =
                match(log(nine) + "10 timing a Completed in 5000ms\n", log(nine) + "10 timing a Completed in 9000ms\n");
        assertNull(match.difference(), match::toString);
        assertEquals(1, match.durations().count());
    }

    /// Whatever is not numbered as npm does is compared as it is.
    @Test
    void itIsNoSuchLog() throws Exception {
        String turned = log(new int[] {0, 1, 2, 4, 3, 5, 6, 7, 8, 9, 10});
        assertNull(match(log(ONE), turned).difference());
        assertNotNull(match(log(ONE) + "more", turned + "more").difference());
        assertNotNull(match(log(ONE), turned.replace("\n3 ", "\n7 ")).difference());
        assertNotNull(match(log(ONE).replace("\n3 ", "\nx "), turned.replace("\n3 ", "\nx "))
                .difference());
        assertNotNull(match(log(ONE), log(ONE).replace("\n3 ", "\n03 ")).difference());
        assertNull(match("", "").difference());
    }

    @Test
    void paths() {
        assertTrue(NpmLog.is("/home/agent/.npm/_logs/2026-11-26T03_40_33_123Z-debug-0.log"));
        assertFalse(NpmLog.is("/home/agent/.npm/_logs/2026-11-26T03_40_33_123Z-debug-0.log.txt"));
        assertFalse(NpmLog.is("/home/agent/logs/2026-11-26T03_40_33_123Z-debug-0.log"));
    }
}
