package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import blackbox.node.record.Installation.Running;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The ways in which a run ends: by itself, by its timeout, by force. Each leaves a run that says how it ended.
class RecordEndingsTest {

    private static final int PRINTED_LINES = 200_000;
    private static final int OPENS = 50_000;
    /// How long an interrupted recording may take to exit, whatever its agent does and wherever its broker is.
    /// Decision 0120 says how often five seconds suffice; here other tests run at the same time.
    private static final int INTERRUPTED_SECONDS = 10;

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    @Test
    void theExitCodeAndTheStreamsAreTheAgentsOwn() throws Exception {
        Ended ended = blackbox.run("record", "--json", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
                .expect(7)
                .saying("err");
        assertEquals("out\n", ended.out());
        assertEquals(7, ended.recorded().path("exitCode").asInt());
        assertEquals("CLOSED", ended.recorded().path("state").asText());
    }

    @Test
    void aMissingCommandIs127() throws Exception {
        Ended ended = blackbox.run("record", "--json", "--", "no-such-command").expect(127);
        assertVerifies(ended.recorded(), Set.of("COMPLETE"));
    }

    @Test
    void anAgentThatIgnoresItsTimeoutIsKilledAndItsWorkKept() throws Exception {
        Ended ended = blackbox.run(
                        "record",
                        "--json",
                        "--timeout",
                        "2s",
                        "--",
                        "sh",
                        "-c",
                        "trap '' TERM; echo half > work; while :; do sleep 1; done")
                .expect(124)
                .saying("the timeout was reached");
        Path back = Path.of(ended.recorded().path("workspace").asText());
        assertEquals("half\n", Files.readString(back.resolve("work")));
        assertVerifies(ended.recorded(), Set.of("COMPLETE"));
    }

    @Test
    void aVmThatIsKilledIs125AndTheRunIsClosed() throws Exception {
        Running running = blackbox.start("record", "--json", "--", "sh", "-c", "echo up; sleep 1000");
        running.awaitOutput();
        running.qemu().destroyForcibly();
        Ended ended = running.await().expect(125).saying("the VM failed");
        assertEquals("CLOSED", ended.recorded().path("state").asText());
        String id = ended.recorded().path("run").asText();
        JsonNode verification = blackbox.run("verify", id, "--json").expect(1).json();
        assertEquals("VERIFIED", verification.path("integrity").asText());
        assertEquals("UNKNOWN", verification.path("completeness").asText(), verification::toString);
        long from = verification.path("unknownFrom").asLong(-1);
        assertTrue(from > 0 && from < verification.path("events").asLong(), verification::toString);
        assertTrue(verification.path("findings").toString().contains("TRACER_UNFINISHED: "), verification::toString);
        assertFalse(ended.recorded().path("lossKnown").asBoolean(true), ended::err);
        assertEquals(from, ended.recorded().path("unknownFrom").asLong(-1));
        Ended events = blackbox.run("events", id, "--json", "--kind", "recorder.finding")
                .expect(0);
        assertTrue(events.out().contains("TRACER_UNFINISHED"), events::out);
    }

    /// A guest that hangs says nothing more, and would not end.
    @Test
    void aVmThatHangsIsEndedAndTheRunIsClosed() throws Exception {
        blackbox.run("record", "--silence-max", "9s", "--", "true").expect(2).saying("at least 10s");
        Running running = blackbox.start(
                "record", "--json", "--tier", "live", "--silence-max", "10s", "--", "sh", "-c", "echo up; sleep 1000");
        running.awaitOutput();
        Process stop = new ProcessBuilder("kill", "-STOP", "" + running.qemu().pid()).start();
        assertEquals(0, stop.waitFor());
        Ended ended = running.await().expect(125).saying("nothing was heard of the guest's tracer for more than 10 s");
        assertEquals("CLOSED", ended.recorded().path("state").asText());
        String id = ended.recorded().path("run").asText();
        JsonNode verification = blackbox.run("verify", id, "--json").expect(1).json();
        assertEquals("VERIFIED", verification.path("integrity").asText());
        assertEquals("UNKNOWN", verification.path("completeness").asText(), verification::toString);
        String findings = blackbox.run("events", id, "--json", "--kind", "recorder.finding")
                .expect(0)
                .out();
        assertTrue(findings.contains("GUEST_SILENT"), () -> findings);
    }

    /// As with ctrl-C, the whole process group gets the signal.
    @ParameterizedTest
    @CsvSource({
        "TERM, 143, sleep 1000",
        "HUP, 129, sleep 1000",
        "INT, 130, sleep 1000",
        "INT, 130, 'trap \"\" TERM; while :; do sleep 1; done'"
    })
    void anInterruptedRunIsClosedAndItsWorkspaceComesBack(String signal, int code, String agent) throws Exception {
        Path workspace =
                Files.createDirectory(Files.createTempDirectory("interrupted").resolve("workspace"));
        Running running = startGroup(
                "record",
                "--json",
                "--workspace",
                workspace.toString(),
                "--",
                "sh",
                "-c",
                "echo half > made; echo up; " + agent);
        running.awaitOutput();
        Ended ended =
                interrupt(running, signal).expect(code).saying("interrupted: ending the command and closing the run");
        assertFalse(ended.err().contains("the VM failed"), ended::err);
        Path back = blackbox.data()
                .resolve("workspaces")
                .resolve(ended.recorded().path("run").asText());
        try (var all = Files.walk(back)) {
            assertTrue(all.anyMatch(file -> file.endsWith("made")), ended::err);
        }
        assertFalse(ended.err().contains("\tat "), ended::err);
        assertEquals("CLOSED", ended.recorded().path("state").asText());
        assertVerifies(ended.recorded(), Set.of("COMPLETE", "LOSS_DECLARED"));
        assertEquals(List.of(), blackbox.names("vm"));
    }

    @Test
    void anInterruptedStartLeavesNoMachine() throws Exception {
        Running running = startGroup("record", "--", "sh", "-c", "sleep 1000");
        ProcessHandle qemu = running.awaitQemu();
        Ended unused = interrupt(running, "TERM").expect(143);
        qemu.onExit().get(INTERRUPTED_SECONDS, TimeUnit.SECONDS);
    }

    private static Running startGroup(String... arguments) throws IOException {
        // A shell without job control makes its background processes ignore ctrl-C, and that is inherited.
        var command = new ArrayList<>(List.of("env", "--default-signal=INT,HUP", "setsid"));
        command.addAll(Installation.command(arguments));
        return blackbox.start(new ProcessBuilder(command).redirectInput(new File("/dev/null")));
    }

    /// A second ctrl-C waits for nothing, and leaves no machine behind.
    @Test
    void aSecondInterruptEndsAtOnce() throws Exception {
        Running running = startGroup("record", "--", "sh", "-c", "trap '' TERM; echo up; while :; do sleep 1; done");
        running.awaitOutput();
        ProcessHandle qemu = running.qemu();
        signal(running, "INT");
        Ended unused = interrupt(running, "INT").expect(130);
        qemu.onExit().get(INTERRUPTED_SECONDS, TimeUnit.SECONDS);
    }

    private static void signal(Running running, String name) throws Exception {
        String group = Long.toString(running.process().pid());
        Process signal = new ProcessBuilder("sh", "-c", "kill -" + name + " -" + group).start();
        assertEquals(0, signal.waitFor());
    }

    private static Ended interrupt(Running running, String name) throws Exception {
        signal(running, name);
        assertTrue(running.process().waitFor(INTERRUPTED_SECONDS, TimeUnit.SECONDS), "it does not exit");
        return running.await();
    }

    @Test
    void nothingOfAFloodIsLostSilently() throws Exception {
        String flood = """
                import os
                for i in range(%d): print("line", i)
                for i in range(%d): os.close(os.open("flooded", os.O_RDONLY | os.O_CREAT))
                """.formatted(PRINTED_LINES, OPENS);
        Ended ended =
                blackbox.run("record", "--json", "--", "python3", "-c", flood).expect(0);
        assertEquals(PRINTED_LINES, ended.out().lines().count());
        assertTrue(ended.out().endsWith("line " + (PRINTED_LINES - 1) + "\n"));
        long lost = ended.recorded().path("lost").asLong();
        assertVerifies(ended.recorded(), Set.of(lost == 0 ? "COMPLETE" : "LOSS_DECLARED"));
        String id = ended.recorded().path("run").asText();
        Ended events =
                blackbox.run("events", id, "--json", "--kind", "file.open").expect(0);
        long seen = events.out()
                .lines()
                .filter(line -> line.contains("/workspace/flooded"))
                .count();
        assertTrue(seen + lost >= OPENS, () -> seen + " opens are there and " + lost + " declared lost");
    }

    @Test
    void anAgentThatDoesNotReadItsInputHoldsNothingUp() throws Exception {
        var builder =
                new ProcessBuilder(Installation.command("record", "--json", "--", "sh", "-c", "sleep 1; echo done"));
        Ended ended = blackbox.start(builder.redirectInput(new File("/dev/zero")))
                .await()
                .expect(0);
        assertEquals("done\n", ended.out());
    }

    @Test
    void aRecorderThatIsKilledLeavesATruncatedRunAndItsVmIsCleared() throws Exception {
        Running running = blackbox.start("record", "--name", "killed", "--", "sh", "-c", "echo up; sleep 1000");
        running.awaitOutput();
        ProcessHandle qemu = running.qemu();
        running.process().destroyForcibly().waitFor();

        assertTruncated();
        blackbox.run("record", "--", "true")
                .expect(0)
                .saying("cleaned up after 1 crashed run")
                .saying("that an earlier recorder");
        qemu.onExit().get(10, TimeUnit.SECONDS);
        assertFalse(qemu.isAlive());
        assertEquals(List.of(), blackbox.names("vm"));
        assertEquals(List.of(), blackbox.names("spool"));
        assertTruncated();
    }

    private static void assertTruncated() throws Exception {
        JsonNode runs = blackbox.run("runs", "--json").expect(0).json();
        for (JsonNode run : runs) {
            if (run.path("name").asText().equals("killed")) {
                assertEquals("TRUNCATED", run.path("state").asText());
            }
        }
        JsonNode verification =
                blackbox.run("verify", "killed", "--json").expect(1).json();
        assertEquals("VERIFIED", verification.path("integrity").asText());
        assertEquals("TRUNCATED", verification.path("completeness").asText());
        assertTrue(verification.path("events").asLong() > 0);
    }

    private static void assertVerifies(JsonNode recorded, Set<String> completeness) throws Exception {
        JsonNode verification = blackbox.run("verify", recorded.path("run").asText(), "--json")
                .expect(0)
                .json();
        assertEquals("VERIFIED", verification.path("integrity").asText());
        assertTrue(completeness.contains(verification.path("completeness").asText()), verification::toString);
        assertEquals(
                recorded.path("events").asLong(), verification.path("events").asLong());
    }
}
