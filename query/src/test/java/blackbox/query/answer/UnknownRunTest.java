package blackbox.query.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.query.brief.BriefText;
import blackbox.query.brief.TouchedInBrief;
import blackbox.query.run.CountedRun;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.FindingDetail;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A run whose tracer died: no answer says that nothing was lost.
class UnknownRunTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path folder;

    private TestRun run;
    private Recordings recordings;
    private long unknownFrom;

    @BeforeEach
    void record() throws Exception {
        run = new TestRun(folder).open("died");
        var events = new TestEvents(run);
        events.compile(100, "/workspace/a.o");
        run.heartbeat(false);
        unknownFrom = run.nextIndex();
        events.compile(110, "/workspace/b.o");
        run.seal();
        run.add(new Event.RecorderFinding(EventHeader.host(run.tick()), new FindingDetail.TracerUnfinished(1)));
        run.closeUnfinished(0);
        run.table();
        recordings = Recordings.unchecked(folder);
    }

    /// Writes the fields of one JSON object.
    private interface Fields {
        void write(JsonGenerator out) throws Exception;
    }

    private static JsonNode json(Fields fields) throws Exception {
        var text = new StringWriter();
        try (JsonGenerator out = new JsonFactory().createGenerator(text)) {
            fields.write(out);
        }
        return JSON.readTree(text.toString());
    }

    private void assertUnknown(JsonNode node) {
        assertEquals(0, node.path("lost").asLong(-1), node::toString);
        assertFalse(node.path("lossKnown").asBoolean(true), node::toString);
        assertEquals(unknownFrom, node.path("unknownFrom").asLong(-1), node::toString);
    }

    @Test
    void theListOfRunsSaysSo() throws Exception {
        CountedRun counted = CountedRun.all(recordings).getFirst();
        assertUnknown(json(out -> RunJson.write(out, counted)));
        assertEquals(
                "losses not known from event " + unknownFrom + " on",
                counted.losses().inWords());
    }

    @Test
    void theSummarySaysSo() throws Exception {
        RunSummary summary = RunSummary.read(recordings, run.run);
        assertUnknown(json(out -> {
            out.writeStartObject();
            summary.writeFields(out);
            out.writeEndObject();
        }));
        var text = new StringWriter();
        summary.print(new PrintWriter(text));
        assertTrue(text.toString().contains("(losses not known from event " + unknownFrom + " on)"), text::toString);
        assertFalse(text.toString().contains("0 lost"), text::toString);
    }

    @Test
    void whatItTouchedBeginsItsLimitsWithIt() throws Exception {
        TouchedInBrief touched = TouchedInBrief.collect(recordings, run.run);
        String limit = "completeness is UNKNOWN: from event " + unknownFrom
                + " on, events may be missing that nothing counts (TRACER_UNFINISHED)";
        assertEquals(limit, touched.touched().limits().getFirst());
        assertTrue(
                BriefText.lines(touched.brief()).stream()
                        .anyMatch(line ->
                                line.startsWith("NOT SEEN  completeness is UNKNOWN: from event " + unknownFrom)),
                () -> BriefText.lines(touched.brief()).toString());
    }

    /// What a guest says of itself can be any number.
    @Test
    void lossesBeyondAnyCountAreAtLeast() throws Exception {
        Path lost = folder.resolve("lost");
        run = new TestRun(lost).open("lost");
        for (int i = 0; i < 2; i++) {
            run.add(new Event.RecorderLoss(EventHeader.host(run.tick()), Long.MAX_VALUE - 1, "probe-missed", null));
        }
        run.close(0);
        run.table();
        recordings = Recordings.unchecked(lost);
        List<String> limits =
                TouchedInBrief.collect(recordings, run.run).touched().limits();
        assertTrue(limits.contains("at least 9223372036854775807 events were lost (probe-missed)"), limits::toString);
        CountedRun counted = CountedRun.read(recordings, run.run);
        assertTrue(
                counted.losses().inWords().startsWith("at least 9223372036854775807 lost, not known from event "),
                counted.losses()::inWords);
        JsonNode node = json(out -> RunJson.write(out, counted));
        assertEquals(Long.MAX_VALUE, node.path("lost").asLong());
        assertFalse(node.path("lossKnown").asBoolean(true));
    }

    /// Of a run that ended in good order nothing of the kind is said.
    @Test
    void anOrdinaryRunHasItsNumber() throws Exception {
        var other = TestEvents.smallBuild(new TestRun(folder.resolve("other")), 1);
        other.table();
        CountedRun counted = CountedRun.read(Recordings.unchecked(folder.resolve("other")), other.run);
        assertEquals("7 lost", counted.losses().inWords());
        JsonNode node = json(out -> RunJson.write(out, counted));
        assertTrue(node.path("lossKnown").asBoolean());
        assertTrue(node.path("unknownFrom").isNull());
    }
}
