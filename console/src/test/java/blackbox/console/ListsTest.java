package blackbox.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.bundle.BundleWriter;
import blackbox.evidence.log.InclusionProof;
import blackbox.evidence.log.MerkleFrontier;
import blackbox.evidence.store.Recordings;
import blackbox.schemas.Hash;
import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the page lists of a run besides its events, without a browser.
class ListsTest {
    private static final int DEEP = 5_000;

    @TempDir
    private Path folder;

    @FunctionalInterface
    private interface More {
        void add(TestRun run) throws Exception;
    }

    /// What the page makes of a run.
    private JsonNode views(More more) throws Exception {
        var run = new TestRun(folder.resolve("data"));
        more.add(run);
        run.table();
        Path zip = folder.resolve("run.zip");
        BundleWriter.write(Recordings.unchecked(run.data), run.run, run.key, zip);
        JsonNode said = Npm.script("verify.mjs", List.of("--views", zip)).getFirst();
        assertEquals("VERIFIED", said.path("verdict").asText(), said::toString);
        return said;
    }

    private static List<List<String>> cells(JsonNode rows) {
        var cells = new ArrayList<List<String>>();
        rows.forEach(row -> cells.add(Npm.texts(row.path("cells"))));
        return cells;
    }

    /// By the way that RFC 9162 tells verifiers, which shares nothing with how the page makes one.
    @Test
    void eachEventsProofLeadsToTheRootOfAll() throws Exception {
        JsonNode proofs = views(run -> TestEvents.smallBuild(run, 70)).path("proofs");
        int size = proofs.size();
        assertTrue(size > 700, "more than two tiles, and a part: " + size);
        var tree = new MerkleFrontier();
        proofs.forEach(proof -> tree.append(Hash.ofHex(proof.path("leafHash").asText())));
        for (JsonNode proof : proofs) {
            var path = new ArrayList<Hash>();
            proof.path("steps")
                    .forEach(step -> path.add(Hash.ofHex(step.path("hash").asText())));
            var inclusion = new InclusionProof(
                    proof.path("index").asLong(), proof.path("size").asLong(), path);
            assertEquals(size, inclusion.size());
            assertEquals(
                    tree.root(),
                    inclusion.root(Hash.ofHex(proof.path("leafHash").asText())));
            assertEquals(tree.root().toString(), proof.path("root").asText());
        }
    }

    @Test
    void itListsWhoDidWhatAndToWhom() throws Exception {
        JsonNode said = views(run -> TestEvents.smallBuild(run, 2));
        List<List<String>> processes = cells(said.path("processes"));
        List<String> compiler = processes.getFirst();
        assertEquals(List.of("cc -o /workspace/file0.o ''", "/usr/bin/cc", "100", "not known"), compiler.subList(0, 4));
        assertEquals(List.of("exit 0", "9", "1,000", "1"), compiler.subList(6, 10));
        assertEquals(4, processes.size(), processes::toString);
        assertEquals(List.of(1, 1, 1, 2), levels(said.path("processes")), "301 is a child of 300");
        assertTrue(said.path("processes").get(0).path("notable").asBoolean(), "it was refused /etc/shadow");

        List<List<String>> files = cells(said.path("files"));
        assertTrue(
                files.contains(List.of("/workspace/main.c", "opened, read", "8,192", "", "", "cc")), files::toString);
        assertTrue(files.contains(List.of("/etc/shadow", "", "", "", "2", "cc")), files::toString);
        assertTrue(
                files.contains(List.of("/workspace/file0.o", "made, written, renamed", "", "1,000", "", "cc")),
                files::toString);
        assertTrue(files.contains(List.of("/workspace/file0.obj", "renamed", "", "", "", "cc")), files::toString);

        List<List<String>> network = cells(said.path("network"));
        assertTrue(
                network.contains(List.of("tcp 93.184.216.34:443", "example.org", "curl", "1", "500", "9,000", "", "")),
                network::toString);
        assertTrue(network.contains(List.of("tcp 192.0.2.1:80", "", "curl", "1", "", "", "", "")), network::toString);
        assertEquals(2, network.size(), network::toString);
    }

    /// Names of a guest's choosing neither merge two peers nor name one that was only asked.
    @Test
    void whatAGuestNamesIsNotWhatItTalksTo() throws Exception {
        var local = new Endpoint("10.0.2.15", 40000);
        JsonNode said = views(run -> {
            begin(run);
            var resolver = new Endpoint("10.0.2.3", 53);
            run.add(new Event.NetFlow(host(run), "udp", local, resolver, null, 500_000, 1, 1L, 1L, null));
            run.add(new Event.DnsQuery(
                    host(run), Text.of("github.com"), 1, List.of(Text.of("192.0.2.7")), "udp", local, resolver));
            for (String ip : List.of("192.0.2.7", "203.0.113.66")) {
                var remote = new Endpoint(ip, 443);
                Text name = Text.of("github.com");
                run.add(new Event.NetFlow(
                        guest(run, 50, 1, "curl"), "tcp", local, remote, name, 900, 1, null, null, null));
                run.add(new Event.NetFlow(host(run), "tcp", local, remote, name, 1000, 1, 1L, 1L, null));
            }
            end(run);
        });
        List<List<String>> network = cells(said.path("network"));
        assertTrue(
                network.contains(List.of("udp 10.0.2.3:53", "", "", "1", "500,000", "1", "", "")), network::toString);
        assertEquals(3, network.size(), network::toString);
        var peers = new HashSet<String>();
        said.path("edges")
                .forEach(edge -> peers.add(
                        edge.path("label").asText() + " " + edge.path("bytes").asLong()));
        assertEquals(
                Set.of(
                        "udp 10.0.2.3:53 500001",
                        "github.com (tcp 192.0.2.7:443) 1001",
                        "github.com (tcp 203.0.113.66:443) 1001"),
                peers);
    }

    /// Counts below nothing take nothing away, a link's target was not touched, a program's path stands beside what it
    /// calls itself, and what looks like a space is shown.
    @Test
    void whatAGuestClaimsHidesNothing() throws Exception {
        JsonNode said = views(run -> {
            begin(run);
            var evil = guest(run, 60, 1, "evil");
            run.add(new Event.ProcessExec(
                    evil,
                    Text.of("/tmp/evil"),
                    List.of(Text.of("\u2003ls"), Text.of("-la")),
                    List.of(),
                    Text.of("/w"),
                    0));
            Text data = Text.of("/w/data");
            run.add(new Event.FileIo(guest(run, 60, 1, "evil"), data, 0, 1_000_000, 0, 1, 0L, 0L, null));
            run.add(new Event.FileIo(guest(run, 60, 1, "evil"), data, 0, -999_999, 0, 1, 0L, 0L, null));
            run.add(change(run, Kind.FILE_SYMLINK, "/w/link", "/etc/shadow", 0));
            run.add(change(run, Kind.FILE_MKDIR, "out", null, -17));
            run.add(new Event.ProcessExec(
                    guest(run, 61, 60, "nameless"), Text.of("/tmp/nameless"), List.of(), List.of(), null, 0));
            run.add(new Event.NetCall(
                    guest(run, 61, 60, "nameless"),
                    Kind.NET_CONNECT,
                    "tcp",
                    null,
                    new Endpoint("192.0.2.9", 80),
                    null,
                    -115));
            end(run);
        });
        List<List<String>> processes = cells(said.path("processes"));
        assertEquals(List.of("'\\u{2003}ls' -la", "/tmp/evil"), processes.get(0).subList(0, 2));
        assertEquals(List.of("nameless", "/tmp/nameless"), processes.get(1).subList(0, 2));
        assertEquals("", processes.get(1).getLast(), "a connection that is being made has not failed");
        List<List<String>> files = cells(said.path("files"));
        assertTrue(files.contains(List.of("/w/data", "written", "", "1,000,000", "", "evil")), files::toString);
        assertTrue(files.contains(List.of("/w/link", "made", "", "", "", "evil")), files::toString);
        assertTrue(files.contains(List.of("/w/out", "", "", "", "1", "evil")), files::toString);
        assertTrue(files.stream().noneMatch(file -> file.getFirst().equals("/etc/shadow")), files::toString);
    }

    /// The supervisor makes the agent's first process, which is the agent's from then on; what it starts is below it.
    @Test
    void theAgentsFirstProcessIsTheAgents() throws Exception {
        JsonNode said = views(run -> {
            begin(run);
            run.add(new Event.ProcessFork(of(run, Actor.SUPERVISOR, 1, 0, "init"), 0L));
            run.add(new Event.ProcessFork(of(run, Actor.SUPERVISOR, 120, 1, "init"), 1_000_000L));
            for (int pid : List.of(120, 121)) {
                if (pid == 121) {
                    run.add(new Event.ProcessFork(of(run, Actor.AGENT, pid, 120, "bash"), 120_000_000L));
                }
                Text exe = Text.of("/usr/bin/" + pid);
                run.add(new Event.ProcessExec(
                        of(run, Actor.AGENT, pid, 120, "bash"), exe, List.of(exe), List.of(), null, 0));
            }
            run.add(new Event.ProcessFork(guest(run, 7, 2, "kworker"), 2_000_000L));
            end(run);
        });
        List<List<String>> processes = cells(said.path("processes"));
        assertEquals(
                List.of("120", "121", "7", "1"),
                processes.stream().map(row -> row.get(2)).toList());
        assertEquals(
                List.of("agent", "agent", "not known", "supervisor"),
                processes.stream().map(row -> row.get(3)).toList());
        assertEquals(List.of(1, 2, 1, 1), levels(said.path("processes")));
    }

    private static EventHeader of(TestRun run, Actor actor, int pid, int ppid, String comm) {
        return new EventHeader(
                run.tick(),
                Source.GUEST,
                new GuestOrigin(0, run.nextNumber(0), actor),
                TestEvents.process(pid, ppid, comm),
                Marks.NONE);
    }

    private static void begin(TestRun run) {
        run.open("hostile");
        run.add(new Event.TracerReady(host(run), "{\"attached\":[\"exec\"],\"failed\":[]}"));
    }

    private static void end(TestRun run) {
        run.seal();
        run.close(0);
    }

    private static EventHeader host(TestRun run) {
        return EventHeader.host(run.tick());
    }

    private static EventHeader guest(TestRun run, int pid, int ppid, String comm) {
        return new TestEvents(run).guest(pid, ppid, comm);
    }

    private static Event change(TestRun run, Kind kind, String path, @Nullable String to, long ret) {
        return new Event.FileChange(
                guest(run, 60, 1, "evil"),
                kind,
                Text.of(path),
                to == null ? null : Text.of(to),
                null,
                null,
                null,
                null,
                ret);
    }

    private static List<Integer> levels(JsonNode rows) {
        var levels = new ArrayList<Integer>();
        rows.forEach(row -> levels.add(row.path("level").asInt()));
        return levels;
    }

    /// A guest may say of any process that any other is its parent: each is listed once all the same, and soon.
    @Test
    void parentsThatCannotBeAreNoHindrance() throws Exception {
        JsonNode said = views(run -> {
            begin(run);
            fork(run, 7, 7, 7_000_000L); // its own parent
            fork(run, 8, 9, 9_000_000L); // each the other's
            fork(run, 9, 8, 8_000_000L);
            fork(run, 8, 9, 9_000_000L); // the same again
            for (int pid = 100; pid < 100 + DEEP; pid++) {
                fork(run, pid, pid - 1, 1_000_000L * (pid - 1));
            }
            end(run);
        });
        var pids = new HashSet<String>();
        cells(said.path("processes")).forEach(row -> assertTrue(pids.add(row.get(2)), row::toString));
        assertEquals(3 + DEEP, pids.size());
        assertTrue(said.path("ms").asDouble() < 5_000, said.path("ms").asText());
    }

    private static void fork(TestRun run, int pid, int ppid, long parentStartNs) {
        run.add(new Event.ProcessFork(guest(run, pid, ppid, "x\u001b[31m"), parentStartNs));
    }
}
