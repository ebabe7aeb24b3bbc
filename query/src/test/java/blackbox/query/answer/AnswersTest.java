package blackbox.query.answer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.text.Printable;
import blackbox.query.QueryException;
import blackbox.query.run.CountedRun;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunNames;
import blackbox.query.run.RunState;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.FindingDetail;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AnswersTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path folder;

    private TestRun run;
    private Recordings recordings;

    @BeforeEach
    void record() throws Exception {
        run = TestEvents.smallBuild(new TestRun(folder), 2);
        recordings = Recordings.unchecked(folder);
    }

    private List<JsonNode> events(EventFilter filter) throws Exception {
        var nodes = new ArrayList<JsonNode>();
        Events.give(
                EventStream.of(recordings, run.run, filter, 0),
                (index, row) -> {
                    var text = new StringWriter();
                    try (JsonGenerator out = new JsonFactory().createGenerator(text)) {
                        EventJson.write(out, index, row);
                    }
                    nodes.add(JSON.readTree(text.toString()));
                },
                () -> {});
        return nodes;
    }

    @Test
    void aRunWhoseMiddleIsDamagedHasASummaryThatSaysSo() throws Exception {
        run.table(0, 1, "PARQUET_VERSION v2");
        Path middle = run.table(1, 2, "PARQUET_VERSION v2");
        run.table(2, 3, "PARQUET_VERSION v2");
        RunSummary before = RunSummary.read(recordings, run.run);
        assertNull(before.facts().fault());
        byte[] octets = Files.readAllBytes(middle);
        Arrays.fill(octets, 4, octets.length - 12, (byte) 0xff);
        Files.write(middle, octets);
        RunSummary after = RunSummary.read(recordings, run.run);
        assertNotNull(after.facts().fault());
        assertEquals(before.facts().events(), after.facts().events());
    }

    @Test
    void tableAndSpoolGiveTheSameEventsAndEachOnce() throws Exception {
        run.spool(0, 3);
        List<JsonNode> fromSpool = events(EventFilter.ALL);
        run.table(0, 2, "PARQUET_VERSION v2");
        run.spool(1, 3);
        List<JsonNode> fromBoth = events(EventFilter.ALL);
        assertEquals(fromSpool, fromBoth);
        for (int i = 0; i < fromBoth.size(); i++) {
            assertEquals(i, fromBoth.get(i).path("index").asInt());
        }
    }

    @Test
    void anEventHasTheContractsFields() throws Exception {
        run.table();
        JsonNode exec =
                events(EventFilter.of(List.of("process.exec"), null, null)).getFirst();
        assertEquals("guest", exec.path("source").asText());
        assertEquals("/usr/bin/cc", exec.path("exe").asText());
        assertEquals(
                "[\"cc\",\"-o\",\"/workspace/file0.o\",\"\"]", exec.path("argv").toString());
        assertEquals("/workspace", exec.path("cwd").asText());
        assertEquals(0, exec.path("ret").asInt(-1));
        assertEquals("100@100000000", exec.path("process").path("key").asText());
        assertEquals(1, exec.path("process").path("ppid").asInt());
        assertEquals("cc", exec.path("process").path("comm").asText());
        assertTrue(
                exec.path("at").asText().matches("2026-11-21T00:00:00\\.\\d{9}Z"),
                exec.path("at").asText());
        JsonNode rename =
                events(EventFilter.of(List.of("file.rename"), null, null)).getFirst();
        assertEquals("/workspace/file0.obj", rename.path("to").asText());
        JsonNode flow = events(EventFilter.of(List.of("net.flow"), null, null)).getFirst();
        assertEquals(
                "{\"ip\":\"93.184.216.34\",\"port\":443}", flow.path("remote").toString());
        assertEquals(9000, flow.path("bytesIn").asInt());
    }

    @Test
    void whatIsNotUtf8StaysExact() throws Exception {
        run.table();
        JsonNode odd =
                events(EventFilter.of(List.of("process.exec"), null, null)).getLast();
        assertArrayEquals(
                new byte[] {'/', (byte) 0xff, '\n'}, odd.path("exeBytes").binaryValue());
        assertArrayEquals(
                new byte[] {(byte) 0xc3, 0x28}, odd.path("argvBytes").path(0).binaryValue());
        assertEquals(8192, odd.path("truncated").path("env").asInt());
        assertEquals("[\"cwd\"]", odd.path("unread").toString());
    }

    @Test
    void aTerminalSeesNoEscapes() throws Exception {
        run.table();
        Events.give(
                EventStream.of(recordings, run.run, EventFilter.ALL, 0),
                (index, row) -> {
                    String line = Printable.of(EventLine.format(index, row));
                    assertFalse(line.contains("\\x5cx"), line);
                    assertTrue(line.chars().noneMatch(c -> c < ' '), line);
                },
                () -> {});
    }

    @Test
    void timesAndKindsNarrow() throws Exception {
        run.table();
        int all = events(EventFilter.ALL).size();
        String middle = events(EventFilter.ALL).get(all / 2).path("at").asText();
        int before = events(EventFilter.of(List.of(), null, middle)).size();
        int after = events(EventFilter.of(List.of(), middle, null)).size();
        assertEquals(all, before + after);
        assertTrue(before > 0 && after > 0);
        assertThrows(QueryException.class, () -> EventFilter.of(List.of("file.opne"), null, null));
        assertThrows(QueryException.class, () -> EventFilter.of(List.of(), "yesterday", null));
    }

    @Test
    void touchedNamesEverything() throws Exception {
        run.table();
        Touched touched = TouchedCollector.collect(recordings, run.run);
        Touched.FileUse object = file(touched, "/workspace/file1.o");
        assertTrue(object.deeds().created()
                && object.deeds().written()
                && object.deeds().deleted());
        assertEquals(1000, object.bytesWritten());
        assertEquals(Text.of("/workspace/file1.obj"), object.renamedTo());
        assertTrue(file(touched, "/workspace/file1.obj").deeds().created());
        assertEquals(2 * 4096, file(touched, "/workspace/main.c").bytesRead());
        assertFalse(touched.files().stream().anyMatch(use -> use.path().equals(Text.of("/etc/shadow"))));
        Touched.FileRefusal refused = touched.refused().getFirst();
        assertEquals(
                "read /etc/shadow EACCES 1",
                refused.act() + " " + refused.path() + " " + refused.error() + " " + refused.count());
        assertEquals(
                List.of("cc (100)", "cc (110)"),
                touched.refused().stream().map(Touched.FileRefusal::by).toList());
        assertEquals(3, touched.processes().size());
        assertEquals(0L, touched.processes().getFirst().end().exitCode());
        Touched.Flow flow = touched.egress().getFirst();
        assertEquals("example.org", flow.host());
        assertEquals(flow.guest(), flow.onWire());
        assertEquals(-101L, touched.egress().getLast().failedWith());
        assertEquals(2, touched.egress().size());
        assertEquals("arp", touched.linkLayer().getFirst().protocol());
        assertEquals(
                List.of("uid", "gid", "capabilities", "mount"),
                touched.privileges().stream().map(Touched.PrivilegeUse::what).toList());
        assertEquals("gained SYS_ADMIN", touched.privileges().get(2).subject());
        String limits = String.join("\n", touched.limits());
        assertTrue(limits.contains("7 events were lost (ring)"), limits);
        assertTrue(limits.contains("value env was cut in 1"), limits);
        assertTrue(limits.contains("value cwd could not be read in 1"), limits);
    }

    private static Touched.FileUse file(Touched touched, String path) {
        return touched.files().stream()
                .filter(use -> use.path().equals(Text.of(path)))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void touchedAsJsonAndText() throws Exception {
        run.table();
        Touched touched = TouchedCollector.collect(recordings, run.run);
        var text = new StringWriter();
        try (JsonGenerator out = new JsonFactory().createGenerator(text)) {
            TouchedJson.write(out, touched, EnumSet.allOf(TouchedPart.class));
        }
        JsonNode node = JSON.readTree(text.toString());
        assertEquals(
                443, node.path("egress").path(0).path("remote").path("port").asInt());
        assertTrue(node.path("egress").path(0).path("seenByHost").asBoolean());
        assertEquals(
                "/workspace/main.c", node.path("files").path(0).path("path").asText());
        JsonNode refused = node.path("refused").path(0);
        assertEquals("/etc/shadow", refused.path("path").asText());
        assertEquals("EACCES", refused.path("error").asText());
        assertEquals(touched.refused().getFirst().index(), refused.path("index").asLong());
        var shown = new StringWriter();
        TouchedText.print(new PrintWriter(shown), touched, EnumSet.allOf(TouchedPart.class));
        assertTrue(
                shown.toString().contains("Refused (2)\n  EACCES read /etc/shadow  by cc (100)  once"),
                shown.toString());
        assertTrue(shown.toString().contains("  once, first at event " + refused.path("index")), shown.toString());
        assertTrue(
                shown.toString().contains("93.184.216.34:443 example.org  500 out, 9000 in  guest+host"),
                shown.toString());
        assertTrue(shown.toString().chars().noneMatch(c -> c < ' ' && c != '\n'));
    }

    @Test
    void aRunIsFoundByIdPrefixNameAndLast() throws Exception {
        run.table();
        for (String said : List.of(run.run.value(), run.run.value().substring(0, 5), "build", "last")) {
            assertEquals(run.run, RunNames.resolve(recordings, said), said);
        }
        QueryException none = assertThrows(QueryException.class, () -> RunNames.resolve(recordings, "nothing"));
        assertEquals(QueryException.Code.NOT_FOUND, none.code());
    }

    @Test
    void factsComeFromTheEnds() throws Exception {
        run.table(0, 2, "PARQUET_VERSION v2");
        assertEquals(RunState.TRUNCATED, RunFacts.read(recordings, run.run).state());
        try (var lock = run.lock()) {
            assertTrue(lock.channel().isOpen());
            assertEquals(RunState.OPEN, RunFacts.read(recordings, run.run).state());
        }
        run.spool(2, 3);
        RunFacts facts = RunFacts.read(recordings, run.run);
        assertEquals(RunState.CLOSED, facts.state());
        assertEquals("build", facts.name());
        assertEquals(run.batches.getLast().endIndex(), facts.events());
        assertEquals(7, CountedRun.read(recordings, run.run).losses().counted());
    }

    @Test
    void eventsAsOctetsAreTheSameLines() throws Exception {
        run.table(0, 2, "PARQUET_VERSION v2");
        run.spool(2, 3);
        byte[] all =
                new EventBytes(EventStream.of(recordings, run.run, EventFilter.ALL, 0), Long.MAX_VALUE).readAllBytes();
        String[] lines = new String(all, StandardCharsets.UTF_8).split("\n");
        assertEquals(events(EventFilter.ALL).size(), lines.length);
        assertEquals(events(EventFilter.ALL).getLast(), JSON.readTree(lines[lines.length - 1]));
        byte[] two = new EventBytes(EventStream.of(recordings, run.run, EventFilter.ALL, 5), 2).readAllBytes();
        assertEquals(5, JSON.readTree(two).path("index").asInt());
        assertEquals(2, new String(two, StandardCharsets.UTF_8).split("\n").length);
    }

    @Test
    void followingGivesWhatComesUntilTheClose() throws Exception {
        var other = new TestRun(folder, new RunId("0" + "1".repeat(25)), run.key).open("live");
        other.seal();
        other.spool(0, 1);
        var seen = new ArrayList<Long>();
        var first = new CountDownLatch(1);
        try (var lock = other.lock()) {
            assertTrue(lock.channel().isOpen());
            var follower = Thread.ofVirtual().start(() -> {
                try {
                    Events.give(
                            EventStream.following(recordings, other.run, EventFilter.ALL, 0),
                            (index, row) -> seen.add(index),
                            first::countDown);
                } catch (IOException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            first.await();
            other.add(new Event.RecorderFinding(EventHeader.host(other.tick()), new FindingDetail.GuestSilent(1)));
            other.close(0);
            other.table();
            follower.join();
        }
        assertEquals(List.of(0L, 1L, 2L, 3L, 4L, 5L), seen);
    }

    /// A recorder that is gone may have handed its last batches to a broker from which ingest has not taken them.
    @Test
    void followingWaitsForIngestWhenTheRecorderIsGone() throws Exception {
        TestRun other = withoutRecorder();
        try (var events = EventStream.following(recordings, other.run, EventFilter.ALL, 0)) {
            idleFor(Duration.ofSeconds(10), events);
            other.add(new Event.RecorderFinding(EventHeader.host(other.tick()), new FindingDetail.GuestSilent(1)));
            other.seal();
            other.table();
            idleFor(Duration.ofSeconds(10), events);
            other.close(0);
            other.table();
            assertEquals(EventStream.Step.END, afterEvents(events));
            assertTrue(events.isOver());
        }
    }

    @Test
    void followingEndsWhereNoCloseComes() throws Exception {
        TestRun other = withoutRecorder();
        try (var events = EventStream.following(recordings, other.run, EventFilter.ALL, 0)) {
            idleFor(Duration.ofSeconds(10), events);
            long polls = 0;
            while (events.next() != EventStream.Step.END) {
                polls++;
                assertTrue(EventStream.POLL.multipliedBy(polls).compareTo(EventStream.PATIENCE) <= 0, "it never ends");
            }
            assertFalse(events.isOver());
        }
    }

    /// A run that has begun, all of it in the table, and whose recorder is gone.
    private TestRun withoutRecorder() throws Exception {
        TestRun begun = new TestRun(folder, new RunId("0" + "2".repeat(25)), run.key).open("live");
        begun.seal();
        begun.table();
        return begun;
    }

    /// Reads what is there, and then as often as one polls in that time: nothing comes, and it does not end.
    private static void idleFor(Duration time, EventStream events) throws IOException {
        assertEquals(EventStream.Step.IDLE, afterEvents(events));
        for (long polls = time.dividedBy(EventStream.POLL); polls > 0; polls--) {
            assertEquals(EventStream.Step.IDLE, events.next());
        }
    }

    private static EventStream.Step afterEvents(EventStream events) throws IOException {
        EventStream.Step step = events.next();
        while (step == EventStream.Step.EVENT) {
            step = events.next();
        }
        return step;
    }
}
