package blackbox.node.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.console.Npm;
import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.trust.ReplayNote;
import blackbox.evidence.trust.ReplayNote.Outcome;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.files.ProcessLock;
import blackbox.recorder.capture.CaptureFile;
import blackbox.recorder.capture.KeptOutput;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.verdict.Comparison;
import blackbox.replay.verdict.FirstDivergence;
import blackbox.replay.verdict.Verdict;
import blackbox.replay.verdict.VerdictStore;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.SpoolSegment;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.DataFolder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The console in Debian's Chromium, over the service itself.
@Timeout(240)
class ConsoleTest {
    private static final int CUTS = 10;
    private static final Path PICTURES = Path.of("target/pictures").toAbsolutePath();
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path data;

    private TestLog log;
    private TestRun closed;
    private TestService service;
    private ApiServer server;

    @BeforeEach
    void start() throws Exception {
        log = new TestLog(data.resolve("log")).begin();
        closed = TestEvents.smallBuild(TestRun.certified(data, log), 4);
        closed.table();
        closed.logCheckpoints(1, closed.batches.size());
        log.publish();
        Files.createDirectories(data.resolve("keys"));
        Files.writeString(data.resolve("keys/log.pub"), log.key.verifier().encoded() + "\n");
        service = TestService.in(data, () -> List.of(log.key.verifier()), null);
        server = ApiServer.start(service.context(), ApiServerTest.LOOPBACK, null);
        Files.createDirectories(PICTURES);
    }

    @AfterEach
    void stop() {
        server.close();
        service.close();
    }

    @Test
    void peopleFindTheirWayInItByKeysAndByItsAddress() throws Exception {
        JsonNode said = Npm.script("console.mjs", List.of("walk", server.uri(), service.token(), closed.run, PICTURES))
                .getFirst();
        said.path("axe")
                .properties()
                .forEach(view -> assertEquals(List.of(), Npm.texts(view.getValue()), view.getKey()));
        assertEquals(8, said.path("axe").size(), "three views in two schemes, and two more");
        assertTrue(said.path("mistake").asText().contains("nothing"), said::toString);
        assertEquals(4, said.path("rows").size(), said::toString);
        assertTrue(
                Npm.texts(said.path("rows")).stream().allMatch(row -> row.matches("(?s).*1795219\\d{12}\\D.*")),
                said::toString);
        assertEquals(5, said.path("examples").size(), said::toString);
        assertTrue(
                Npm.texts(said.path("examples")).stream().allMatch(each -> each.matches("\\d+ rows, .*")),
                said::toString);
        assertTrue(said.path("select").asText().startsWith("#/sql?select=select+run"), said::toString);
        assertTrue(said.path("reached").asText().contains("/etc/shadow"), said::toString);
        assertTrue(said.path("printed").asText().contains("did not keep what a command prints"), said::toString);
        assertTrue(said.path("replays").asText().contains("Nobody has replayed this run here."), said::toString);
        assertTrue(said.path("refused").asText().startsWith("send a valid token"), said::toString);
        assertTrue(Npm.texts(said.path("runs")).contains(closed.run.value()), said::toString);
        assertEquals(
                "#/?search=" + closed.run.value().substring(20),
                said.path("search").asText());
        assertEquals("VERIFIED, by its own keys", said.path("badge").asText());
        assertTrue(said.path("touched").asText().contains("/etc/shadow"), said::toString);
        assertSameNetwork(said);
        long end = closed.nextIndex() - 1;
        assertEquals(
                "#/run/" + closed.run + "?event=" + end, said.path("address").asText());
        assertEquals(said.path("details"), said.path("again"), "the address is the state");
        assertEquals(List.of(), Npm.texts(said.path("errors")), "also what the page's policy forbids would be here");
        for (String asked : Npm.texts(said.path("asked"))) {
            assertTrue(asked.startsWith(server.uri().toString()) || asked.startsWith("blob:"), asked);
            assertFalse(asked.contains(service.token()), "a token in an address");
        }
        assertEquals(0, said.path("cookies").size());
        assertEquals(0, said.path("kept").path("local").asInt());
        assertEquals(1, said.path("kept").path("session").asInt());
        assertEquals(0, said.path("forgotten").asInt());
        assertTrue(said.path("framed").path("/health").asText().contains("UP"), "what may stand in a frame does");
        assertFalse(said.path("framed").path("/console").asText().contains("token"), "another site has it in a frame");
    }

    /// What the page gathers from the events that it verified is what the service answers.
    private static void assertSameNetwork(JsonNode said) {
        var page = new ArrayList<List<String>>();
        said.path("network").forEach(row -> page.add(Npm.texts(row)));
        var api = new ArrayList<List<String>>();
        for (JsonNode each : said.path("contacts")) {
            api.add(List.of(
                    each.path("protocol").asText() + " " + each.path("remote").asText(),
                    each.path("host").asText(""),
                    String.join(", ", Npm.texts(each.path("by"))),
                    figure(each.path("flows")),
                    figure(each.path("bytesOut")),
                    figure(each.path("bytesIn"))));
        }
        assertFalse(api.isEmpty());
        assertEquals(Set.copyOf(api), Set.copyOf(page));
        assertEquals(api.size(), page.size());
    }

    private static String figure(JsonNode number) {
        return number.asLong() == 0 ? "" : String.format(Locale.ROOT, "%,d", number.asLong());
    }

    @Test
    void evidenceIsAZipThatNobodyKeeps() throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI path = URI.create(server.uri() + "/api/v1/runs/" + closed.run + "/evidence");
            HttpRequest request = HttpRequest.newBuilder(path)
                    .header("Authorization", "Bearer " + service.token())
                    .build();
            for (int i = 0; i < 12; i++) { // more than may be under way at once
                HttpResponse<byte[]> answer = client.send(request, BodyHandlers.ofByteArray());
                assertEquals(200, answer.statusCode());
                assertEquals(List.of("no-store"), answer.headers().allValues("Cache-Control"));
                Path zip = Files.write(data.resolve("evidence.zip"), answer.body());
                try (var files = new ZipFile(zip.toFile())) {
                    assertNotNull(files.getEntry("log/checkpoint"));
                    assertNotNull(files.getEntry("completeness.json"));
                    assertNull(files.getEntry("statement.dsse.json"), "a service that states whatever it is asked for");
                }
            }
        }
    }

    /// What a program printed is not markup, turns nothing around it and is there when it was printed; of a replay
    /// that diverged both sides are there.
    @Test
    void whatItPrintedAndHowItsReplayDivergedAreShown() throws Exception {
        RunId id = RunId.create(Instant.ofEpochSecond(0, TestRun.START_NS), new Random(9));
        TestRun run = TestRun.certified(data, log, id);
        run.open(
                "talker",
                run.certificate(log.key),
                recorder -> recorder.put("version", "1").put("key", "k").put("outputBytesMax", 1 << 20));
        print(run);
        run.table();
        run.logCheckpoints(run.batches.size() - 1, run.batches.size());
        Instant at = Instant.ofEpochSecond(0, TestRun.START_NS + 90_000_000_000L);
        var divergence = new FirstDivergence(
                1,
                DivergenceClass.UNEXPLAINED,
                "<b>the recorded side</b>",
                "the other side",
                List.of("a cause"),
                List.of());
        Verdict verdict = Verdict.of(
                id,
                at,
                ReplayMethod.RERUN,
                new Comparison(List.of(), List.of("events"), List.of("memory"), run.nextIndex(), divergence, 0),
                Verdict.Completion.WHOLE);
        Hash document = new VerdictStore(data).keep(verdict).sha256();
        var note = new ReplayNote(id, ReplayMethod.RERUN, Outcome.DIVERGED, document, at);
        log.add(SignedNote.sign(note.text(), log.key));
        log.publish();
        JsonNode said = Npm.script("console.mjs", List.of("unfold", server.uri(), service.token(), id, PICTURES))
                .getFirst();
        assertEquals(List.of(), Npm.texts(said.path("errors")));
        assertEquals(List.of(), Npm.texts(said.path("axe")));
        assertEquals(
                "done\\u{7}\n<script>alert(1)</script>\noops\n\u2068\u05d0\u2069\n\\u{1b}%Gnot hidden\n",
                said.path("printed").asText());
        assertEquals("oops\n", said.path("stderr").asText());
        assertEquals("done\\u{7}\n", said.path("first").asText(), "at its first piece");
        String replays = said.path("replays").asText();
        for (String expected : List.of("DIVERGED", "leaf", "<b>the recorded side</b>", "the other side", "a cause")) {
            assertTrue(replays.contains(expected), () -> expected + " in " + replays);
        }
        assertEquals("Event 1", said.path("opened").asText());
    }

    /// A progress bar, colours, markup, and letters that are written from right to left; a second between the first
    /// piece and the next.
    private void print(TestRun run) throws Exception {
        Path folder = Files.createDirectories(new DataFolder(data).captures(run.run));
        var clock = new AtomicLong(TestRun.START_NS);
        try (var kept = new KeptOutput(folder, 1 << 20, () -> clock.addAndGet(1_000_000_000L))) {
            for (String piece :
                    List.of("10 %\r100 %\rdone\u0007\n", "\u001b[31m<script>alert(1)</script>\u001b[0m\n")) {
                kept.through(PrintedStream.STDOUT, OutputStream.nullOutputStream())
                        .write(piece.getBytes(StandardCharsets.UTF_8));
            }
            kept.through(PrintedStream.STDERR, OutputStream.nullOutputStream())
                    .write("oops\n".getBytes(StandardCharsets.UTF_8));
            kept.through(PrintedStream.STDOUT, OutputStream.nullOutputStream())
                    .write("\u05d0\n\u001b%Gnot hidden\n".getBytes(StandardCharsets.UTF_8));
            for (CaptureFile file : kept.files()) {
                file.sealNew(run::tick).forEach(run::add);
            }
        }
        run.close(0);
    }

    /// Whoever watches gets every event once and in order, whatever happens to the connection, also within a line and
    /// within a character; once the run is in the table, the browser verifies it without being asked.
    @Test
    void whatComesLiveIsWholeThroughCutConnections() throws Exception {
        // A run of which the batches come into the spool one by one, and into the table at last.
        TestRun live =
                TestRun.certified(data, log, RunId.create(Instant.ofEpochSecond(0, TestRun.START_NS), new Random(7)));
        live.open("live");
        live.seal();
        log.publish();
        ProcessLock lock = live.lock();
        spool(live);
        Process watching = new ProcessBuilder(
                        "node",
                        "src/test/js/console.mjs",
                        "follow",
                        server.uri().toString(),
                        service.token(),
                        live.run.value(),
                        Integer.toString(CUTS))
                .directory(Npm.MODULE.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        JsonNode said = JSON.createObjectNode();
        try (BufferedReader answers = watching.inputReader(StandardCharsets.UTF_8);
                PrintWriter asks = new PrintWriter(watching.outputWriter(StandardCharsets.UTF_8), true)) {
            int cuts = 0;
            for (String line = answers.readLine(); line != null; line = answers.readLine()) {
                if (!line.equals("cut")) {
                    said = JSON.readTree(line);
                    continue;
                }
                cuts++;
                for (int i = 0; i < 3; i++) {
                    live.add(new Event.VmLifecycle(EventHeader.host(live.tick()), "zażółć-gęślą-jaźń-" + cuts, null));
                }
                if (cuts < CUTS) {
                    live.seal();
                    spool(live);
                } else {
                    finish(live, lock);
                }
                asks.println();
            }
        } finally {
            watching.destroy();
        }
        assertEquals(0, watching.waitFor());
        List<String> all =
                LongStream.range(0, live.nextIndex()).mapToObj(Long::toString).toList();
        assertEquals(List.of(), Npm.texts(said.path("thrown")), said::toString);
        assertEquals(all.reversed(), Npm.texts(said.path("shown")), said::toString);
        assertEquals("VERIFIED, by its own keys", said.path("badge").asText());
        assertTrue(said.path("cuts").asInt() >= CUTS - 1, said::toString);
    }

    /// Appends the last batch to the spool, as a recorder does.
    private static void spool(TestRun live) throws Exception {
        byte[] octets = live.batches.getLast().octets();
        byte[] header = SpoolSegment.recordHeader(octets).array();
        byte[] record = Arrays.copyOf(header, header.length + octets.length);
        System.arraycopy(octets, 0, record, header.length, octets.length);
        Files.createDirectories(live.spoolFolder());
        Files.write(
                live.spoolFolder().resolve("000000000000.seg"),
                record,
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    /// The run is closed, and ingest takes it in.
    private void finish(TestRun live, ProcessLock lock) throws Exception {
        live.close(0);
        spool(live);
        live.logCheckpoints(live.batches.size() - 1, live.batches.size());
        log.publish();
        live.table();
        lock.close();
        try (var segments = Files.list(live.spoolFolder())) {
            for (Path segment : segments.toList()) {
                Files.delete(segment);
            }
        }
    }
}
