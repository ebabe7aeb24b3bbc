package blackbox.replay.content;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// The number of a process may stand for that of the process that stands for it, where it is a number by itself.
final class TiedProcessesTest {
    private static final Map<Long, Long> PAIRS = Map.of(412L, 415L, 998L, 1002L, 2026L, 2031L, 4_194_303L, 101L);

    private static final KnownTies PROCESSES = new KnownTies() {
        @Override
        public boolean standFor(String recorded, String actual) {
            return recorded.equals("tmp.a") && actual.equals("tmp.b");
        }

        @Override
        public boolean isSameProcess(long recorded, Window recordedWhen, long actual, Window actualWhen) {
            return Long.valueOf(actual).equals(PAIRS.get(recorded));
        }
    };

    private static ContentMatch match(String recorded, String actual) throws IOException {
        return ContentMatch.of(
                in(recorded), in(actual), new Origins(WrittenWhen.UNKNOWN, WrittenWhen.UNKNOWN, PROCESSES));
    }

    private static ByteArrayInputStream in(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static void assertTied(int count, String recorded, String actual) throws IOException {
        ContentMatch match = match(recorded, actual);
        assertNull(match.difference(), match::toString);
        assertEquals(count, match.processes().count());
    }

    @Test
    void itMayStandAnywhereByItself() throws IOException {
        assertTied(1, "412", "415");
        assertTied(1, "412\n", "415\n");
        assertTied(2, "998 and 998", "1002 and 1002");
        assertTied(1, "4194303.", "101.");
        assertTied(1, "kill(-412)", "kill(-415)");
        assertTied(3, "[412] /proc/998/fd/3 pid=412, done", "[415] /proc/1002/fd/3 pid=415, done");
        assertTied(1, "/tmp/job.412", "/tmp/job.415");
        assertTied(1, "server-412.log", "server-415.log");
        String far = "=".repeat(65_530);
        assertTied(2, far + " 998 " + far + "412", far + " 1002 " + far + "415");
        assertEquals(
                List.of(new Tie(3, "998", 3, "1002")),
                match("at 998!", "at 1002!").processes().first());
    }

    @Test
    void anotherNumberIsADifference() throws IOException {
        for (String actual : List.of("412 is 416", "412 is 4150", "412 is 41", "412 is 412", "412 is x", "412 is ")) {
            ContentMatch match = match("412 is 998", actual);
            assertNotNull(match.difference(), actual);
        }
        assertEquals(2, match("412", "416").firstDifference());
        assertEquals(0, match("998", "415").firstDifference());
        assertEquals(0, match("", "415").firstDifference());
        assertNotNull(match("0412", "0415").difference());
        assertNotNull(match("41241241", "41541541").difference());
    }

    @Test
    void aPartOfSomethingElseIsNone() throws IOException {
        for (String around : List.of(
                "a%s",
                "%sa",
                "_%s",
                "%s_",
                "%s%%",
                "1.%s",
                "%s.5",
                "1,%s",
                "%s,5",
                "10:%s",
                "%s:10",
                "7-%s",
                "%s-7",
                "3/%s",
                "%s/3",
                "+%s",
                "%s ms",
                "%s seconds",
                "%s files\n",
                "%s tests passed",
                "\u00e4%s",
                "%s\u00e4")) {
            ContentMatch match = match(around.formatted("412"), around.formatted("415"));
            assertNotNull(match.difference(), around);
        }
    }

    /// A year is no process, even if there is one of that number.
    @Test
    void aNumberInATimeIsNone() throws IOException {
        assertNotNull(
                match("Wed Nov 25 12:11:37 2026", "Wed Nov 25 12:11:37 2031").difference());
        assertNotNull(match("2026-11-25 12:11", "2031-11-25 12:11").difference());
        assertTied(1, "process 2026 ", "process 2031 ");
    }

    @Test
    void withoutOriginsNothingStands() throws IOException {
        assertEquals(2, ContentMatch.of(in("412"), in("415")).firstDifference());
    }
}
