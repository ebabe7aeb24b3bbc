package blackbox.cli.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.oracle.StraceLog.Deed;
import blackbox.schemas.event.Event;
import blackbox.schemas.row.Text;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The tracer compared with an independent tool in the same guest: whatever strace saw succeed must be in the
/// events or be declared lost.
class TracerOracleTest {

    private static final String CALLS =
            "execve,execveat,open,openat,openat2,creat,rename,renameat,renameat2," + "unlink,unlinkat,rmdir,connect";

    /// How many executions strace looks at; of the rest there are as many in proportion.
    private static final int EXECUTIONS = Integer.getInteger("blackbox.executions", 500);

    @TempDir
    Path folder;

    @Test
    void whatStraceSawIsInTheEventsOrDeclaredLost() throws Exception {
        TracedGuest.Ran ran = TracedGuest.run(
                folder,
                "workload.py",
                "strace",
                "-f",
                "--seccomp-bpf",
                "-y",
                "-xx",
                "-s",
                "8192",
                "-e",
                "trace=" + CALLS,
                "-e",
                "signal=none",
                "-o",
                "/workspace/strace.log",
                "python3",
                "/workspace/workload.py",
                "" + EXECUTIONS);
        assertEquals("", ran.printed());
        List<String> lines = Files.readAllLines(ran.workspace().resolve("strace.log"), StandardCharsets.ISO_8859_1);
        List<Deed> seen = StraceLog.parse(lines, "/workspace/files");
        Map<String, Long> kinds = seen.stream().collect(Collectors.groupingBy(Deed::kind, Collectors.counting()));
        List<Deed> missing = without(seen, Deeds.of(ran.events()));
        System.out.println("oracle: strace saw " + kinds + "; " + ran.events().size() + " events, missing "
                + missing.size() + ", declared lost " + ran.lost());
        assertAtLeast(kinds, "exec", EXECUTIONS);
        assertAtLeast(kinds, "open", 15 * EXECUTIONS / 2); // of ten, a quarter is only to read
        assertAtLeast(kinds, "rename", EXECUTIONS / 2);
        assertAtLeast(kinds, "unlink", EXECUTIONS / 4);
        assertAtLeast(kinds, "connect", EXECUTIONS / 10);
        assertTrue(missing.size() <= ran.lost(), () -> "missing: " + missing.subList(0, Math.min(20, missing.size())));
    }

    private static void assertAtLeast(Map<String, Long> kinds, String kind, long times) {
        assertTrue(kinds.getOrDefault(kind, 0L) >= times, () -> "too few of " + kind + ": " + kinds);
    }

    @Test
    void argumentsAreByteExactOrMarked() throws Exception {
        TracedGuest.Ran ran = TracedGuest.run(folder, "arguments.py", "python3", "/workspace/arguments.py");
        for (int size : new int[] {1, 4_095, 4_096, 65_536, 131_071}) {
            assertSized(ran, size);
        }
        List<Text> many = exec(ran, "many", 0).argv();
        assertEquals(
                IntStream.range(0, 2_000)
                        .mapToObj(i -> Text.of("argument " + i))
                        .toList(),
                many == null ? List.of() : many.subList(2, many.size()));
        byte[] odd = {(byte) 0xff, (byte) 0xfe, (byte) 0xc3, '('};
        assertEquals(
                List.of(
                        Text.of("/bin/true"),
                        Text.of("odd"),
                        Text.copyOf(odd, 0, odd.length),
                        Text.of("line\nline\n"),
                        Text.of(""),
                        Text.of("tab\tquote\"'"),
                        Text.of("")),
                exec(ran, "odd", 0).argv());
        assertEquals(
                List.of(Text.of("TOKEN"), Text.of("EMPTY")),
                exec(ran, "secret", 0).env());
        assertFalse(ran.events().toString().contains("s3cr3t-value"));
        assertTrue(ran.all(Event.ProcessExit.class).stream()
                .anyMatch(exit -> Integer.valueOf(3).equals(exit.exitCode())));
    }

    @Test
    void theEndOfAProcessIsToldOnce() throws Exception {
        TracedGuest.Ran ran = TracedGuest.run(folder, "ends.py", "python3", "/workspace/ends.py");
        Map<Integer, Long> ends = ran.all(Event.ProcessExit.class).stream()
                .map(exit -> Objects.requireNonNull(exit.header().process()).pid())
                .collect(Collectors.groupingBy(pid -> pid, Collectors.counting()));
        List<Integer> children = ran.printed().lines().map(Integer::valueOf).toList();
        assertEquals(60, children.size());
        Map<Integer, Long> once = children.stream().collect(Collectors.toMap(pid -> pid, _ -> 1L));
        ends.keySet().retainAll(children);
        assertEquals(once, ends);
    }

    @Test
    void nobodyInTheGuestCanEndTheTracer() throws Exception {
        TracedGuest.Ran ran = TracedGuest.runAsRoot(folder, "kill.py", "python3", "/workspace/kill.py");
        assertTrue(ran.printed().contains("Operation not permitted"), ran.printed());
        assertTrue(ran.all(Event.PrivilegeUse.class).stream()
                .anyMatch(use -> use.what().equals("kill")));
        assertTrue(ran.all(Event.TracerHeartbeat.class).stream()
                .anyMatch(beat -> String.valueOf(beat.detail()).contains("\"final\":true")));
    }

    private static void assertSized(TracedGuest.Ran ran, int size) {
        List<Event.ProcessExec> sized = ran.all(Event.ProcessExec.class).stream()
                .filter(exec -> exec.ret() == 0 && isNamed(exec, "size"))
                .filter(exec -> whole(exec) == size)
                .toList();
        assertEquals(1, sized.size(), "argument of " + size);
    }

    /// Original length of the third argument: as captured or, if it was truncated, as its mark says.
    private static long whole(Event.ProcessExec exec) {
        List<Text> argv = exec.argv();
        Long cut = exec.header().marks().truncated().get("argv");
        if (argv == null || argv.size() < 3) {
            return -1;
        }
        assertEquals("A".repeat(argv.get(2).length()), argv.get(2).toString());
        return cut == null ? argv.get(2).length() : cut - "/bin/true size ".length() - 1;
    }

    private static Event.ProcessExec exec(TracedGuest.Ran ran, String name, long ret) {
        return ran.all(Event.ProcessExec.class).stream()
                .filter(exec -> exec.ret() == ret && isNamed(exec, name))
                .findFirst()
                .orElseThrow();
    }

    private static boolean isNamed(Event.ProcessExec exec, String name) {
        List<Text> argv = exec.argv();
        return argv != null && argv.size() > 1 && argv.get(1).equals(Text.of(name));
    }

    private static List<Deed> without(List<Deed> seen, List<Deed> recorded) {
        var counts = new HashMap<Deed, Integer>();
        recorded.forEach(deed -> counts.merge(deed, 1, Integer::sum));
        var missing = new ArrayList<Deed>();
        for (Deed deed : seen) {
            Integer left = counts.get(deed);
            if (left == null || left == 0) {
                missing.add(deed);
            } else {
                counts.put(deed, left - 1);
            }
        }
        return missing;
    }
}
