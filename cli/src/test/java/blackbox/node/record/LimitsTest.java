package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import blackbox.node.record.Installation.Running;
import blackbox.schemas.event.Finding;
import blackbox.schemas.event.FindingDetail;
import blackbox.schemas.event.FindingJson;
import blackbox.vm.machine.MachineSize;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Limits are in force before the agent starts and are sealed in the run's first event; hitting one is an
/// event.
final class LimitsTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    private static JsonNode opening(String run) throws Exception {
        return blackbox.run("show", run, "--json").expect(0).json().path("detail");
    }

    private static List<FindingDetail> findings(String run) throws Exception {
        String lines = blackbox.run("events", run, "--json", "--kind", "recorder.finding")
                .expect(0)
                .out();
        var findings = new ArrayList<FindingDetail>();
        for (String line : lines.lines().toList()) {
            JsonNode event = JSON.readTree(line);
            Finding finding = Finding.valueOf(event.path("what").asText());
            findings.add(Objects.requireNonNull(
                    FindingJson.read(
                            finding, event.has("detail") ? event.path("detail").toString() : null),
                    line));
        }
        return findings;
    }

    private static boolean isOfLimit(FindingDetail finding, String limit) {
        return finding instanceof FindingDetail.LimitReached reached
                && reached.limit().equals(limit)
                && reached.count() > 0;
    }

    /// When memory runs out, the agent is killed, not what watches it.
    @Test
    void whenMemoryRunsOutTheAgentIsKilledAndTheTracerIsNot() throws Exception {
        String hog = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c',"
                + " 'a = []\\nwhile True: a.append(bytearray(1 << 20))']))";
        Ended ended =
                blackbox.run("record", "--json", "--tier", "live", "--memory", "512M", "--", "python3", "-c", hog);
        String run = ended.recorded().path("run").asText();
        assertEquals(256 - 9, ended.exitCode(), ended::err);
        assertEquals(512, opening(run).path("start").path("memoryMib").asInt());
        List<FindingDetail> findings = findings(run);
        assertTrue(findings.stream().anyMatch(each -> isOfLimit(each, "memory")), findings::toString);
        assertTrue(
                findings.stream().noneMatch(each -> each instanceof FindingDetail.TracerUnfinished),
                findings::toString);
        String signals = blackbox.run("events", run, "--json", "--kind", "process.signal")
                .expect(0)
                .out();
        assertTrue(signals.contains("SIGKILL") && signals.contains("\"by\":\"kernel\""), signals);
        Ended unused = blackbox.run("verify", run).expect(0);
    }

    @Test
    void noMoreProcessesThanAreAllowed() throws Exception {
        String forks = """
                import os, time
                made = 0
                try:
                    while made < 100:
                        if os.fork() == 0:
                            time.sleep(30)
                            os._exit(0)
                        made += 1
                except OSError:
                    pass
                print(made)
                """;
        Ended ended = blackbox.run("record", "--json", "--tier", "live", "--pids", "20", "--", "python3", "-c", forks);
        assertEquals("19\n", ended.expect(0).out(), ended::err);
        String run = ended.recorded().path("run").asText();
        assertEquals(20, opening(run).path("pidsMax").asInt());
        assertTrue(findings(run).stream().anyMatch(each -> isOfLimit(each, "pids")));
    }

    /// By a plain write, by a copy that the kernel makes, in a new file and by allocation, as root, too; in
    /// both tiers.
    @Test
    void theDiskIsFullAtItsLimitAndTheRecordSaysSo() throws Exception {
        String fills = """
                import os, shutil
                room = os.statvfs('.').f_bavail * 4096
                refused = []
                def attempt(what, act):
                    try:
                        act()
                    except OSError as failure:
                        refused.append(what + ' ' + str(failure.errno))
                def write():
                    with open('/workspace/written', 'wb', 0) as file:
                        for i in range(80):
                            file.write(bytes(1 << 20))
                def allocate():
                    with open('/var/tmp/allocated', 'wb') as file:
                        try:
                            os.posix_fallocate(file.fileno(), 0, 200 << 20)
                        finally:
                            file.truncate(0)
                copied = open('/tmp/copied', 'wb')
                def copy():
                    with open('/usr/bin/python3', 'rb') as source, copied as file:
                        while os.sendfile(file.fileno(), source.fileno(), None, 1 << 20):
                            pass
                attempt('allocate', allocate)
                attempt('write', write)
                attempt('copy', copy)
                print(room >> 20, os.path.getsize('/workspace/written') >> 20, *refused)
                os.unlink('/workspace/written')
                """;
        for (String tier : List.of("live", "exact")) {
            for (String user : List.of("agent", "root")) {
                Ended ended = blackbox.run(
                                "record", "--json", "--tier", tier, "--user", user, "--disk", "64M", "--", "python3",
                                "-c", fills)
                        .expect(0);
                String run = ended.recorded().path("run").asText();
                String[] said = ended.out().strip().split(" ", 3);
                // Less a block or two for what is there already.
                assertTrue(said[0].equals("64") || said[0].equals("63"), ended::out);
                assertTrue(Integer.parseInt(said[1]) >= 62 && Integer.parseInt(said[1]) <= 64, ended::out);
                assertEquals("allocate 28 write 28 copy 28", said[2]);
                assertEquals(64 << 20, opening(run).path("diskBytesMax").asLong());
                List<FindingDetail> findings = findings(run);
                assertEquals(List.of(new FindingDetail.LimitReached("disk", 3)), findings);
                String events = blackbox.run("events", run, "--json", "--actor", "agent", "--kind", "file")
                        .expect(0)
                        .out();
                for (String path : List.of("/workspace/written", "/var/tmp/allocated", "/tmp/copied")) {
                    assertTrue(
                            events.lines().anyMatch(line -> line.contains(path) && line.contains("\"ret\":-28")),
                            () -> path + "\n" + events);
                }
                Ended unused = blackbox.run("verify", run).expect(0);
                unused = blackbox.run("replay", run).expect(0);
            }
        }
    }

    @Test
    void aWorkspaceThatDoesNotFitIsRefusedBeforeTheAgentBegins() throws Exception {
        Path large = Files.createDirectory(folder.resolve("large"));
        Files.write(large.resolve("file"), new byte[20 << 20]);
        blackbox.run("record", "--tier", "live", "--disk", "16M", "--workspace", large.toString(), "--", "true")
                .expect(125)
                .saying("more than the agent's disk may hold");
        String runs = blackbox.run("runs", "--json").expect(0).out();
        assertFalse(runs.contains("MISSING"), () -> "a run that never began: " + runs);
        blackbox.run("record", "--disk", "16G", "--", "true").expect(2).saying("--disk takes 16M to 15G");
        blackbox.run("record", "--disk", "1M", "--", "true").expect(2).saying("--disk takes 16M to 15G");
    }

    @Test
    void twoProcessorsAreRecordedLiveAndNothingIsLost() throws Exception {
        Ended ended =
                blackbox.run("record", "--json", "--cpus", "2", "--", "nproc").expect(0);
        assertEquals("2\n", ended.out());
        assertEquals("live", ended.recorded().path("tier").asText());
        assertEquals(0, ended.recorded().path("lost").asInt());
        String run = ended.recorded().path("run").asText();
        Ended unused = blackbox.run("verify", run).expect(0);
        unused = blackbox.run("replay", run).expect(0);
        unused = blackbox.run("record", "--cpus", "2", "--tier", "exact", "--", "true")
                .expect(2);
    }

    /// Short forms of what was done once in full (docs/decisions/0248). More files are open at once than the
    /// tracer's table first had room for.
    @Test
    void floodsOfOpensProcessesThreadsAndOpenFilesAreRecordedWhole() throws Exception {
        String floods = """
                import os, threading
                threading.stack_size(64 << 10)
                os.chdir('/workspace')
                os.close(os.open('flood', os.O_WRONLY | os.O_CREAT))
                for i in range(20000):
                    os.close(os.open('flood', os.O_RDONLY))
                for i in range(1500):
                    child = os.fork()
                    if child == 0:
                        os._exit(7)
                    os.waitpid(child, 0)
                ready, held = os.pipe()
                wait, go = os.pipe()
                children = []
                for n in range(20):
                    children.append(os.fork())
                    if children[-1] == 0:
                        os.close(go)
                        for i in range(900):
                            os.read(os.open('/etc/passwd', os.O_RDONLY), 1)
                        os.write(held, b'+')
                        os.read(wait, 1)
                        os._exit(0)
                for child in children:
                    os.read(ready, 1)
                turn = threading.Lock()
                def work(n):
                    with turn:
                        os.close(os.open('thread%d' % n, os.O_WRONLY | os.O_CREAT))
                threads = [threading.Thread(target=work, args=(n,)) for n in range(2000)]
                with turn:
                    for thread in threads:
                        thread.start()
                for thread in threads:
                    thread.join()
                os.close(go)
                for child in children:
                    os.waitpid(child, 0)
                """;
        Ended ended = blackbox.run("record", "--json", "--tier", "live", "--", "python3", "-c", floods)
                .expect(0);
        JsonNode recorded = ended.recorded();
        assertEquals(0, recorded.path("lost").asInt(), ended::err);
        String run = recorded.path("run").asText();
        blackbox.verifyComplete(run);
        String count = """
                SELECT count(*) FILTER (WHERE kind = 'file.open' AND path = '/workspace/flood'),
                    count(*) FILTER (WHERE kind = 'process.exit' AND exit_code = 7),
                    count(*) FILTER (WHERE kind = 'file.open' AND path = '/etc/passwd' AND ppid = agent),
                    coalesce(sum(reads) FILTER (WHERE kind = 'file.io' AND path = '/etc/passwd' AND ppid = agent), 0),
                    count(*) FILTER (WHERE kind = 'file.open' AND path LIKE '/workspace/thread%%')
                FROM events, (SELECT pid AS agent FROM events WHERE run = '%1$s' AND kind = 'file.open'
                    AND path = '/workspace/flood' LIMIT 1)
                WHERE run = '%1$s'
                """.formatted(run);
        String counted =
                blackbox.run("query", count, "--format", "csv").expect(0).out();
        assertEquals("20001,1500,18000,18000,2000", counted.lines().toList().getLast());
    }

    @Test
    void impossibleSizesAreRefusedBeforeAGuestStarts() throws Exception {
        Ended ended = blackbox.run("record", "--cpus", "9", "--", "true").expect(2);
        ended.saying("--cpus takes 1 to 8");
        blackbox.run("record", "--pids", "5000000", "--", "true").expect(2).saying("--pids takes 1 to 4194304");
        String tracer = Files.readString(Path.of("../recorder/tracer/tracer.c"));
        assertTrue(tracer.contains("#define CPUS_MAX " + MachineSize.CPUS_MAX + "\n"));
    }

    @Test
    void twoRecordingsAtOnceDoNotNoticeEachOther() throws Exception {
        var running = new ArrayList<Running>();
        for (int i = 0; i < 2; i++) {
            List<String> command =
                    Installation.command("record", "--json", "--tier", "live", "--", "sh", "-c", "sleep 3; echo " + i);
            running.add(blackbox.start(new ProcessBuilder(command)));
        }
        for (int i = 0; i < 2; i++) {
            Ended ended = running.get(i).await().expect(0);
            assertEquals(i + "\n", ended.out());
            assertEquals("CLOSED", ended.recorded().path("state").asText());
            Ended unused = blackbox.run("verify", ended.recorded().path("run").asText())
                    .expect(0);
        }
        assertEquals(List.of(), blackbox.names("vm"));
        assertEquals(List.of(), blackbox.names("spool"));
    }
}
