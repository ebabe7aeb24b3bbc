package blackbox.query.why;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.query.why.ToolRun.Use;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.view.FileEffect;
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

/// What followed from a tool use.
class CausedTest {

    private static final int AGENT = 100;

    @TempDir
    Path folder;

    private ToolRun run;

    @BeforeEach
    void record() throws Exception {
        run = new ToolRun(folder);
        run.runtime(AGENT, 4000);
    }

    @Test
    void whatFollowedFromACommandIsListed() throws Exception {
        long call = run.call(4000, 0, 10, 30, List.of(), Use.shell("use-1", "make install", 20));
        long exec = run.start(40, 200, AGENT, "bash", "-lc", "make install");
        long inner = run.start(45, 201, 200, "cp", "x", "/opt/x");
        run.write(50, 201, 200, "/opt/x", 70);
        run.write(51, 201, 200, "/opt/x", 7);
        run.privilege(52, 201, 200, "mount");
        run.connect(53, 201, 200, 4100, new Endpoint("10.0.3.9", 443));
        run.decision(54, 4100, new Endpoint("10.0.3.9", 443), "site.example");
        run.write(60, AGENT, 1, "/home/agent/.log", 5);
        long result = run.call(4000, 1, 100, 110, List.of("use-1"));
        long between = run.start(80, 202, AGENT, "git", "status");
        long after = run.start(120, 203, AGENT, "rg", "--files");
        Recordings recordings = run.recordings();
        Caused caused = run.caused(recordings, call);
        Caused.OfTool tool = caused.tools().getFirst();
        assertEquals(Grade.A, tool.grade(), caused::toString);
        assertEquals(
                List.of(exec + " A", inner + " A", between + " C"),
                tool.effects().execs().stream()
                        .map(each -> each.index() + " " + each.grade())
                        .toList());
        Caused.File file = tool.effects().files().getFirst();
        assertEquals("/opt/x", file.path());
        assertEquals(77, file.bytesWritten());
        assertTrue(file.effects().contains(FileEffect.WRITES), caused::toString);
        assertEquals(Grade.D, tool.effects().files().getLast().grade(), "the runtime's own");
        assertEquals("mount ret=0", tool.effects().privileges().getFirst().what());
        assertEquals(
                List.of("site.example"), tool.effects().connects().getFirst().names());
        assertEquals("10.0.3.9:443", tool.effects().connects().getFirst().address());
        assertEquals(result, tool.used().broughtBy());
        assertEquals(List.of(), caused.untied());
        assertEquals(1, run.caused(recordings, result).untiedCount());
        assertEquals(after, run.caused(recordings, result).untied().getFirst().index());
        assertEquals(tool, run.caused(recordings, "use-1").tools().getFirst());
        assertEquals(tool, run.caused(recordings, call + 1).tools().getFirst());
        assertJson(caused);
        var text = new StringWriter();
        CausedText.print(new PrintWriter(text, true), caused);
        assertTrue(text.toString().contains("A  /opt/x  writes"), text::toString);
    }

    private static void assertJson(Caused caused) throws Exception {
        var json = new StringWriter();
        try (JsonGenerator out = new JsonFactory().createGenerator(json)) {
            CausedJson.write(out, caused);
        }
        JsonNode tool =
                new ObjectMapper().readTree(json.toString()).path("tools").path(0);
        assertEquals("A", tool.path("grade").asText(), json::toString);
        assertEquals("result", tool.path("window").path("end").asText(), json::toString);
        assertEquals(
                "2026-11-21T00:00:00.020000000Z",
                tool.path("window").path("from").asText());
        assertEquals("/opt/x", tool.path("files").path(0).path("path").asText());
        assertEquals(
                "writes", tool.path("files").path(0).path("effects").path(1).asText(), json::toString);
        assertEquals(3, tool.path("execs").size(), json::toString);
    }

    @Test
    void aResultWithoutAnythingThatCouldHaveMadeItIsX() throws Exception {
        run.call(
                4000,
                0,
                10,
                30,
                List.of(),
                Use.shell("nothing", "make", 20),
                new Use("web", "web_search", "{\"query\":\"q\"}", 20, false, "server_tool_use"),
                Use.shell("never", "make clean", 20));
        run.call(4000, 1, 100, 110, List.of("nothing"));
        Recordings recordings = run.recordings();
        Caused.OfTool nothing = run.caused(recordings, "nothing").tools().getFirst();
        assertEquals(Grade.X, nothing.grade());
        assertTrue(nothing.notes().getFirst().contains("nothing that was recorded could have made it"));
        Caused.OfTool web = run.caused(recordings, "web").tools().getFirst();
        assertNull(web.grade());
        assertEquals("by-provider", web.used().window().end().word());
        assertNull(run.caused(recordings, "never").tools().getFirst().grade());
    }

    @Test
    void aResultThatCameBeforeItsToolWasAskedForIsNotItsOwn() throws Exception {
        long exec = run.start(42, 200, AGENT, "sh", "-c", "make");
        run.call(4000, 1, 40, 50, List.of("use-1"));
        run.call(4000, 0, 10, 90, List.of(), Use.shell("use-1", "make", 80));
        Recordings recordings = run.recordings();
        Caused.OfTool tool = run.caused(recordings, "use-1").tools().getFirst();
        assertEquals("before-asked", tool.used().window().end().word());
        assertEquals(Grade.X, tool.grade());
        assertEquals("X -", run.tie(recordings, exec));
    }

    @Test
    void aResultThatNoAnswerAskedForIsSaid() throws Exception {
        long call = run.call(4000, 0, 10, 30, List.of("made-up"), Use.shell("use-1", "make", 20));
        run.call(4000, 1, 100, 110, List.of("use-1"));
        List<String> limits = run.caused(run.recordings(), call).limits();
        assertTrue(
                limits.stream().anyMatch(limit -> limit.startsWith("call " + call + " brings a result for 'made-up'")),
                limits::toString);
    }

    /// One process cannot end the time of another's tool while that lives.
    @Test
    void aResultFromAnotherLivingProcessEndsNothing() throws Exception {
        run.runtime(101, 4001);
        run.call(4000, 0, 10, 30, List.of(), Use.shell("use-1", "make", 20));
        run.call(4001, 0, 35, 38, List.of("use-1"));
        long exec = run.start(60, 200, AGENT, "sh", "-c", "make");
        long result = run.call(4000, 1, 100, 110, List.of("use-1"));
        Recordings recordings = run.recordings();
        assertEquals("A use-1", run.tie(recordings, exec));
        assertEquals(
                result,
                run.caused(recordings, "use-1").tools().getFirst().used().broughtBy());
    }

    @Test
    void anIdThatRepeatsIsLessSureAndBothAreListed() throws Exception {
        run.call(4000, 0, 10, 30, List.of(), Use.shell("same", "make", 20), Use.shell("same", "ls", 20));
        long exec = run.start(40, 200, AGENT, "sh", "-c", "make");
        run.call(4000, 1, 100, 110, List.of("same", "same"));
        Recordings recordings = run.recordings();
        assertEquals("B same", run.tie(recordings, exec));
        Caused caused = run.caused(recordings, "same");
        assertEquals(2, caused.tools().size());
        assertEquals(
                List.of(Grade.B, Grade.X),
                caused.tools().stream().map(Caused.OfTool::grade).toList());
    }

    /// Google's older models give names in place of ids, and those repeat.
    @Test
    void resultsByNameGoToTheUsesInOrder() throws Exception {
        run.call(4000, 0, 10, 30, List.of(), Use.of(null, "run", "{\"command\":\"a b\"}", 20));
        long one = run.start(40, 200, AGENT, "sh", "-c", "a b");
        long first = run.call(4000, 1, 100, 130, List.of("run"), Use.of(null, "run", "{\"command\":\"c d\"}", 120));
        long two = run.start(140, 201, AGENT, "sh", "-c", "c d");
        long second = run.call(4000, 2, 200, 210, List.of("run"));
        Recordings recordings = run.recordings();
        assertEquals(Grade.A, run.why(recordings, one).grade());
        assertEquals(Grade.A, run.why(recordings, two).grade());
        assertEquals(
                second, run.caused(recordings, first).tools().getFirst().used().broughtBy());
    }

    @Test
    void aCallThatIsNotThereIsSaidSo() throws Exception {
        run.call(4000, 0, 10, 30, List.of(), Use.shell("use-1", "make", 20));
        Recordings recordings = run.recordings();
        for (String call : List.of("0", "use-9", "999999", "99999999999999999999", "")) {
            var e = assertThrows(QueryException.class, () -> run.caused(recordings, call), call);
            assertEquals(QueryException.Code.NOT_FOUND, e.code());
            assertTrue(String.valueOf(e.getMessage()).contains("--calls` lists"), e::getMessage);
        }
        assertTrue(String.valueOf(assertThrows(QueryException.class, () -> run.caused(recordings, "0"))
                        .getMessage())
                .startsWith("event 0 of run " + run.run.run + " is a run.open, not a call"));
    }
}
