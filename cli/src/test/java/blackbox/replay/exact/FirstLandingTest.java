package blackbox.replay.exact;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.node.record.Installation;
import blackbox.node.replay.DebugReport;
import blackbox.node.replay.DebugSession;
import blackbox.query.run.RunFacts;
import blackbox.replay.inputs.InputCheck;
import blackbox.replay.inputs.SealedStart;
import blackbox.replay.landing.ExactLanding;
import blackbox.replay.seek.FrameLookup;
import blackbox.replay.seek.IndexLock;
import blackbox.replay.seek.Seeker;
import blackbox.replay.seek.Seekers;
import blackbox.replay.tier.ReplayRequest;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.ScratchFolder;
import blackbox.vm.replay.ReplayCheckpoints;
import blackbox.vm.replay.SteppedMachine;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The first landings in a run: what they index on their way, and what is indexed afterwards.
class FirstLandingTest {
    private static final String WORK =
            "for i in 1 2 3 4 5 6; do for j in $(seq 10000); do :; done; ls / > list$i; done";

    @TempDir
    static Path folder;

    private static Installation blackbox;
    private static DataFolder data;
    private static ReplayRequest request;
    private static RunId run;
    private static FrameLookup early;
    private static FrameLookup late;

    @BeforeAll
    static void record() throws Exception {
        blackbox = Installation.in(folder);
        Installation.Ended ended = blackbox.run("record", "--json", "--tier", "exact", "--", "bash", "-c", WORK)
                .expect(0);
        data = new DataFolder(blackbox.data());
        var recordings = Recordings.unchecked(blackbox.data());
        run = new RunId(ended.recorded().path("run").asText());
        RunFacts facts = RunFacts.read(recordings, run);
        SealedStart start = SealedStart.of(facts);
        var checked = new InputCheck(recordings, run, start, null).check(new ExactReplayer().captures());
        var ready = assertInstanceOf(InputCheck.Ready.class, checked);
        request = new ReplayRequest(recordings, facts, start, ready.inputs());
        early = FrameLookup.at(recordings, run, facts.events() * 4 / 10);
        late = FrameLookup.at(recordings, run, facts.events() * 6 / 10);
    }

    @BeforeEach
    void withoutAnIndex() throws Exception {
        ScratchFolder.delete(data.index(run));
    }

    /// Where a landing ended, and the state that it found there.
    private record Landed(long position, long state, long beganAt) {
        static Landed at(FrameLookup event, List<String> said) throws Exception {
            Seeker.Paused paused = Seekers.open(request, said::add).seek(event.seq());
            try (SteppedMachine machine = paused.machine()) {
                assertEquals(paused.position(), machine.position());
                return new Landed(paused.position(), MachineState.of(machine), machine.beganAt());
            }
        }

        void assertSame(Landed other) {
            assertEquals(position, other.position());
            assertEquals(state, other.state());
        }
    }

    private static NavigableSet<Long> saved() throws Exception {
        return ReplayCheckpoints.open(data.index(run)).positions();
    }

    /// Something about an index.
    private interface Condition {
        boolean holds() throws Exception;
    }

    /// Waits until it holds, asked whenever a file of the index changes.
    private static void awaitIndex(Condition condition) throws Exception {
        Path index = Files.createDirectories(data.index(run));
        try (WatchService changes = index.getFileSystem().newWatchService()) {
            index.register(changes, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_MODIFY);
            while (!condition.holds()) {
                WatchKey change = changes.poll(1, TimeUnit.SECONDS);
                if (change != null) {
                    change.pollEvents();
                    change.reset();
                }
            }
        }
    }

    private static boolean isWhole() throws Exception {
        return Seeker.isIndexed(data.root(), run);
    }

    @Test
    void eachLandingGoesOnFromWhatIsIndexedWhoeverDidIt() throws Exception {
        var said = new ArrayList<String>();
        Landed first = Landed.at(early, said);
        assertTrue(said.stream().anyMatch(line -> line.startsWith("indexing")), said::toString);
        NavigableSet<Long> begun = saved();
        assertFalse(isWhole());
        assertFalse(begun.isEmpty());
        assertTrue(begun.last() < first.position(), begun + " for " + first.position());

        Landed second = Landed.at(late, said);
        NavigableSet<Long> further = saved();
        assertFalse(isWhole());
        assertTrue(further.containsAll(begun) && further.size() > begun.size(), further + " after " + begun);
        assertTrue(further.last() < second.position(), further + " for " + second.position());
        assertTrue(second.beganAt() >= begun.last(), "it did not start again: " + second);

        said.clear();
        try (IndexLock other = IndexLock.tryTake(data, run)) {
            assertNotNull(other);
            first.assertSame(Landed.at(early, said));
        }
        assertEquals(List.of(), said, "back within what is indexed, it waits for nobody");
        assertEquals(further, saved());

        NavigableSet<Long> left = leftByAKill(further);
        assertTrue(Seekers.open(request, said::add).indexAll());
        assertTrue(isWhole() && saved().containsAll(left));
        second.assertSame(Landed.at(late, said));
    }

    /// What a command that indexes the rest has saved when it is killed.
    private static NavigableSet<Long> leftByAKill(NavigableSet<Long> before) throws Exception {
        Installation.Running indexing = blackbox.start("replay", run.value(), "--index");
        awaitIndex(() -> {
            assertTrue(indexing.process().isAlive(), "it ended before it was killed");
            return saved().size() > before.size();
        });
        indexing.process().destroyForcibly().waitFor();
        NavigableSet<Long> left = saved();
        assertFalse(isWhole());
        assertTrue(left.containsAll(before), left + " after " + before);
        return left;
    }

    /// Gives each command once something has been indexed behind the one before.
    private static final class SlowReader extends BufferedReader {
        private final List<String> commands = new ArrayList<>(List.of("where", "registers"));

        private final List<String> complaints;

        SlowReader(List<String> complaints) {
            super(new StringReader(""));
            this.complaints = complaints;
        }

        @Override
        public @Nullable String readLine() {
            try {
                int before = saved().size();
                awaitIndex(() -> saved().size() > before || isWhole() || !complaints.isEmpty());
                return commands.isEmpty() ? null : commands.removeFirst();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }

    @Test
    void theRestIsIndexedWhileNoCommandComesAndNothingElseWhileOneIsAnswered() throws Exception {
        var alone = new ArrayList<String>();
        try (var session = DebugSession.at(new ExactLanding(request), early.index(), report(alone), line -> {})) {
            session.answer(new BufferedReader(new StringReader("where\nregisters")), "");
        }
        withoutAnIndex();
        var beside = new ArrayList<String>();
        List<String> said = Collections.synchronizedList(new ArrayList<>());
        try (var session = DebugSession.at(new ExactLanding(request), early.index(), report(beside), line -> {})) {
            int before = saved().size();
            session.indexWhileIdle(Duration.ZERO, said::add);
            session.answer(new SlowReader(said), "");
            assertTrue(saved().size() > before);
        }
        assertEquals(List.of(), said);
        assertEquals(withoutWay(alone), withoutWay(beside));
    }

    /// With `serve`, which starts the landing, and ends it with itself.
    @Test
    void anOperatorLandsThroughTheService() throws Exception {
        Path launcher = Files.writeString(
                folder.resolve("launcher"),
                "#!/bin/sh\nexec '" + String.join("' '", Installation.command()) + "' \"$@\"\n");
        Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwx------"));
        var builder =
                new ProcessBuilder(Installation.command("serve", "--json", "--no-index", "--listen", "127.0.0.1:0"));
        builder.environment().put("BLACKBOX_LAUNCHER", launcher.toString());
        Installation.Running serving = blackbox.start(builder);
        try (HttpClient client = HttpClient.newHttpClient()) {
            serving.awaitOutput();
            JsonNode told = new ObjectMapper().readTree(serving.out().toFile());
            var asking = new Asking(
                    client,
                    URI.create(told.path("listening").asText() + "/api/v1/runs/" + run + "/replays"),
                    Files.readString(Path.of(told.path("tokenFile").asText())).strip());
            JsonNode landing = asking.ask("POST", "", "{\"to\": \"" + early.index() + "\"}", 202);
            String id = "/" + landing.path("replay").asText();
            JsonNode landed =
                    asking.once(id, each -> each.path("state").asText().equals("landed"));
            assertEquals(early.index(), landed.path("place").path("index").asLong(), landed::toString);
            asking.ask("POST", id + "/ask", "{\"line\": \"registers\"}", 202);
            JsonNode answered = asking.once(id, each -> each.path("answers").size() == 1);
            assertTrue(answered.toString().contains("\"rip\":\""), answered::toString);
            List<ProcessHandle> started = serving.process().descendants().toList();
            assertTrue(started.stream().anyMatch(Installation::isQemu), started::toString);
            serving.process().destroy();
            assertTrue(serving.process().waitFor(60, TimeUnit.SECONDS));
            for (ProcessHandle each : started) {
                each.onExit().get(60, TimeUnit.SECONDS);
            }
        } finally {
            serving.process().destroyForcibly();
        }
        try (Stream<Path> left = Files.list(blackbox.data().resolve("vm"))) {
            assertEquals(List.of(), left.toList());
        }
    }

    /// Requests about replays.
    private record Asking(HttpClient client, URI replays, String token) {
        JsonNode ask(String method, String path, @Nullable String body, int status) throws Exception {
            HttpResponse<String> answer = client.send(
                    HttpRequest.newBuilder(URI.create(replays + path))
                            .header("Authorization", "Bearer " + token)
                            .header("Content-Type", "application/json")
                            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                            .build(),
                    BodyHandlers.ofString());
            assertEquals(status, answer.statusCode(), answer::body);
            return new ObjectMapper().readTree(answer.body());
        }

        JsonNode once(String path, Predicate<JsonNode> is) throws Exception {
            for (long known = -1; ; ) {
                known = ask("GET", "?after=" + known, null, 200).path("version").asLong();
                JsonNode now = ask("GET", path, null, 200);
                if (is.test(now)) {
                    return now;
                }
                assertTrue(now.path("endedAt").isNull(), now::toString);
            }
        }
    }

    /// Without the machine's own socket, and from where it was executed.
    private static List<String> withoutWay(List<String> lines) {
        return lines.stream()
                .map(line -> line.replaceAll("\"(executedFrom|gdb)\":[^,}]*", ""))
                .toList();
    }

    /// Collects the answers; while one is made, nobody indexes.
    private static DebugReport report(List<String> lines) {
        var out = new PrintWriter(new StringWriter()) {
            @Override
            public void println(Object answer) {
                try (IndexLock free = IndexLock.tryTake(data, run)) {
                    assertNotNull(free);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                lines.add(String.valueOf(answer));
            }
        };
        return new DebugReport(out, DebugReport.Form.JSON);
    }
}
