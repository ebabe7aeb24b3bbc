package blackbox.query.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.query.answer.Touched.FileDeeds;
import blackbox.query.answer.Touched.FileUse;
import blackbox.query.answer.Touched.Flow;
import blackbox.query.answer.Touched.Octets;
import blackbox.query.answer.Touched.PrivilegeUse;
import blackbox.query.answer.Touched.ProcessEnd;
import blackbox.query.answer.Touched.ProgramRun;
import blackbox.schemas.row.Text;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// One screen, whatever the run did, and nothing left out without a count.
class TouchedBriefTest {
    private static final FileDeeds WRITTEN = new FileDeeds(true, false, true, true, false, false, false);
    private static final FileDeeds READ = new FileDeeds(true, true, false, false, false, false, false);

    @Test
    void aRunThatDidNothing() {
        List<String> lines = TouchedBrief.lines(of(0));
        assertTrue(lines.size() <= TouchedBrief.LINES_MAX);
        assertTrue(lines.contains("Network: none"), lines::toString);
        assertTrue(lines.contains("What may not have been seen: none"), lines::toString);
    }

    @Test
    void aRunThatDidALotFitsOnAScreenAndCountsTheRest() {
        List<String> lines = TouchedBrief.lines(of(10_000));
        assertTrue(lines.size() <= TouchedBrief.LINES_MAX, () -> lines.size() + " lines");
        assertTrue(lines.stream().allMatch(line -> line.length() <= 110), lines::toString);
        assertTrue(lines.contains("Files changed (20000)"), lines::toString);
        assertTrue(lines.contains("  and 19994 more (--all)"), lines::toString);
        assertTrue(lines.contains("  and 9997 more (--all)"), lines::toString);
        assertTrue(lines.getFirst().startsWith("Programs (10000): make ×10000"), lines::getFirst);
    }

    @Test
    void theKernelsFilesComeFirstThenWhatLiesOutsideTheWorkspace() {
        var touched = new Touched(
                List.of(
                        file("/workspace/.git/index"),
                        file("/workspace/a"),
                        file("/proc/sys/kernel/core_pattern"),
                        file("/dev/null"),
                        file("/etc/x")),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of());
        List<String> lines = TouchedBrief.lines(touched);
        int at = lines.indexOf("Files changed (4)") + 1;
        assertEquals("  /proc/sys/kernel/core_pattern  created, written", lines.get(at));
        assertEquals("  /etc/x  created, written", lines.get(at + 1));
        assertEquals("  /workspace/a  created, written", lines.get(at + 2));
        assertEquals("  /workspace/.git/index  created, written", lines.get(at + 3));
    }

    @Test
    void whatTheGuestNamedCannotMoveTheCursor() {
        var touched =
                new Touched(List.of(file("/tmp/\u001b[2Jx\ny")), List.of(), List.of(), List.of(), List.of(), List.of());
        assertTrue(TouchedBrief.lines(touched).stream()
                .noneMatch(line -> line.chars().anyMatch(c -> c < ' ')));
    }

    private static Touched of(int many) {
        return new Touched(
                IntStream.range(0, 3 * many)
                        .mapToObj(i -> i % 3 == 2
                                ? new FileUse(Text.of("/usr/lib/" + i), READ, i, 0, null)
                                : file("/workspace/" + "d".repeat(i % 200) + i))
                        .toList(),
                IntStream.range(0, many)
                        .mapToObj(i -> new ProgramRun(
                                "k" + i, i, 1L, Text.of("/usr/bin/make"), List.of(), new ProcessEnd(0L, null), false))
                        .toList(),
                IntStream.range(0, many)
                        .mapToObj(i ->
                                new Flow("tcp", null, "10.0.2.2", i, "h".repeat(i % 99), null, new Octets(1, 2), null))
                        .toList(),
                List.of(),
                IntStream.range(0, many)
                        .mapToObj(i -> new PrivilegeUse("settime", "s" + i, "date", i, 1, true))
                        .toList(),
                IntStream.range(0, many).mapToObj(i -> "limit " + i).toList());
    }

    private static FileUse file(String path) {
        return new FileUse(Text.of(path), WRITTEN, 0, 7, null);
    }
}
