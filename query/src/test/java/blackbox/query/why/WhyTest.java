package blackbox.query.why;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.query.why.ToolRun.Use;
import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Marks;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What an event followed from, and how surely.
class WhyTest {

    private static final int AGENT = 100;
    private static final Endpoint SITE = new Endpoint("10.0.3.9", 443);

    @TempDir
    Path folder;

    private ToolRun run;

    @BeforeEach
    void record() throws Exception {
        run = new ToolRun(folder);
        run.runtime(AGENT, 4000);
    }

    /// The model asks for one command between 20 and 100 ms.
    private long asked(String command) {
        long call = run.call(4000, 0, 10, 30, List.of(), Use.shell("use-1", command, 20));
        run.call(4000, 1, 100, 110, List.of("use-1"));
        return call;
    }

    @Test
    void whatWasAskedForLeadsToTheAnswerThatAskedForIt() throws Exception {
        long call = asked("echo one > /tmp/one");
        long exec = run.start(40, 200, AGENT, "sh", "-c", "echo one > /tmp/one");
        long inner = run.start(50, 201, 200, "tee", "/tmp/two");
        long write = run.write(60, 201, 200, "/tmp/two", 3);
        Recordings recordings = run.recordings();
        Why why = run.why(recordings, write);
        assertEquals(Grade.A, why.grade(), why::toString);
        assertEquals(
                List.of(write, inner, exec, call + 1, call),
                why.chain().stream().map(step -> step.event().index()).toList());
        assertEquals("model-1", why.chain().getLast().name());
        assertEquals("answer-10", why.chain().getLast().id());
        assertEquals("A use-1", run.tie(recordings, exec));
        var text = new StringWriter();
        WhyText.print(new PrintWriter(text, true), why);
        assertTrue(text.toString().startsWith("A: consistent with what was asked for, word for word"), text::toString);
        assertTrue(
                text.toString().contains("asked for by        model-1 at model.example  (answer-10)"), text::toString);
    }

    @Test
    void anAnswerFollowsFromTheResultsThatItWasGiven() throws Exception {
        long first = run.call(4000, 0, 10, 30, List.of(), Use.shell("use-1", "a", 20));
        long second = run.call(4000, 1, 100, 130, List.of("use-1"), Use.shell("use-2", "b", 120));
        long third = run.call(4000, 2, 200, 230, List.of("use-2"));
        long exchange = run.exchange(231, 4000, 2);
        Recordings recordings = run.recordings();
        Why why = run.why(recordings, third);
        assertNull(why.grade());
        assertEquals(
                List.of(third, second + 1),
                why.chain().stream().map(step -> step.event().index()).toList());
        Why all = WhyCollector.collect(recordings, run.run.run, third, WhyCollector.Depth.ALL_CALLS);
        assertEquals(
                List.of(third, second + 1, second, first + 1, first),
                all.chain().stream().map(step -> step.event().index()).toList());
        assertEquals(third, run.why(recordings, exchange).chain().get(1).event().index());
        assertTrue(run.why(recordings, first).answer().startsWith("no result of a tool was brought"));
    }

    @Test
    void severalProgramsOrCutArgumentsOrALossMakeItLessSure() throws Exception {
        run.call(
                4000,
                0,
                10,
                30,
                List.of(),
                Use.shell("twice", "make all", 20),
                new Use("cut", "shell", "{\"command\":\"cat >x <<EOF; a long text th", 20, true, "tool_use"));
        run.call(4000, 1, 100, 110, List.of("twice", "cut"));
        long one = run.start(40, 200, AGENT, "sh", "-c", "make all");
        long two = run.start(50, 201, AGENT, "sh", "-c", "make all");
        long cut = run.start(60, 202, AGENT, "sh", "-c", "cat >x <<EOF; a long text that goes on");
        run.call(4000, 2, 5_000, 5_020, List.of(), Use.shell("lossy", "git log", 5_010));
        long lossy = run.start(5_020, 203, AGENT, "sh", "-c", "git log");
        run.loss(5_050);
        run.call(4000, 3, 5_100, 5_110, List.of("lossy"));
        run.call(4000, 4, 9_000, 9_020, List.of(), Use.shell("argv", "git show the whole of it", 9_010));
        long argv =
                run.exec(9_020, ToolRun.process(204, AGENT, 204), ToolRun.argvCut(), "sh", "-c", "git show the whole");
        run.call(4000, 5, 9_100, 9_110, List.of("argv"));
        run.call(4000, 6, 9_200, 9_220, List.of(), Use.shell("unended", "sleep 9", 9_210));
        long unended = run.start(9_230, 205, AGENT, "sh", "-c", "sleep 9");
        Recordings recordings = run.recordings();
        assertEquals("B twice", run.tie(recordings, one));
        assertEquals("B twice", run.tie(recordings, two));
        assertEquals("B cut", run.tie(recordings, cut));
        assertEquals("B lossy", run.tie(recordings, lossy));
        assertEquals("B argv", run.tie(recordings, argv));
        assertEquals("B unended", run.tie(recordings, unended));
        assertTrue(run.why(recordings, lossy)
                .limits()
                .contains("not surer, because events were lost while it was being used"));
    }

    @Test
    void whatIsNotCompleteIsNotSure() throws Exception {
        asked("make");
        long exec = run.start(40, 200, AGENT, "sh", "-c", "make");
        run.run.closeUnfinished(0);
        run.run.spool(0, run.run.batches.size());
        Recordings recordings = Recordings.unchecked(folder);
        assertEquals("B use-1", run.tie(recordings, exec));
    }

    @Test
    void whatWasNotAskedForInTheseWordsIsTiedByLineageAndTimeOrByTimeOrNotAtAll() throws Exception {
        long call = asked("make");
        long other = run.start(40, 200, AGENT, "git", "status");
        long otherWrite = run.write(45, 200, AGENT, "/workspace/.git/index", 9);
        long elsewhere = run.start(50, 300, 1, "cron");
        long own = run.write(60, AGENT, 1, "/home/agent/.history", 5);
        long late = run.start(150, 201, AGENT, "rg", "--files");
        long early = run.start(6, 202, AGENT, "git", "--version");
        long lateWrite = run.write(160, 201, AGENT, "/tmp/x", 1);
        Recordings recordings = run.recordings();
        assertEquals("C use-1", run.tie(recordings, other));
        assertEquals("C use-1", run.tie(recordings, otherWrite));
        assertEquals("D use-1", run.tie(recordings, elsewhere));
        assertEquals("D use-1", run.tie(recordings, own));
        assertEquals("X -", run.tie(recordings, late));
        assertEquals("X -", run.tie(recordings, lateWrite));
        assertEquals("null -", run.tie(recordings, early));
        assertEquals(
                "follows from no call: it was before the first",
                run.why(recordings, early).answer());
        assertEquals(
                "follows from no call: no process of the agent did it",
                run.why(recordings, 0).answer());
        Caused caused = run.caused(recordings, call);
        assertEquals(Grade.C, caused.tools().getFirst().grade());
    }

    @Test
    void theSupervisorFollowsFromNoCall() throws Exception {
        asked("make");
        run.by(Actor.SUPERVISOR);
        long exec = run.start(40, 300, 1, "sh", "-c", "make");
        Recordings recordings = run.recordings();
        assertEquals("null -", run.tie(recordings, exec));
        assertTrue(run.why(recordings, exec).answer().contains("the supervisor did it"));
    }

    @Test
    void agentsAtTheSameTimeAreToldApart() throws Exception {
        run.runtime(101, 4001);
        run.call(4000, 0, 10, 30, List.of(), Use.shell("call_1", "make", 20));
        run.call(4001, 0, 12, 32, List.of(), Use.shell("call_1", "make", 22));
        long one = run.start(40, 200, AGENT, "sh", "-c", "make");
        long two = run.start(41, 201, 101, "sh", "-c", "make");
        long first = run.call(4000, 1, 100, 110, List.of("call_1"));
        long second = run.call(4001, 1, 150, 160, List.of("call_1"));
        Recordings recordings = run.recordings();
        // The ids are the same, so that is said; but each is tied to its own.
        for (var each : List.of(List.of(one, first), List.of(two, second))) {
            Why why = run.why(recordings, each.getFirst());
            assertEquals(Grade.B, why.grade(), why::toString);
            long index = why.chain().stream()
                    .filter(step -> step.role() == Step.Role.TOOL)
                    .findFirst()
                    .orElseThrow()
                    .event()
                    .index();
            assertEquals(
                    index,
                    run.caused(recordings, index).tools().getFirst().used().index());
            assertEquals(
                    each.getLast(),
                    run.caused(recordings, index).tools().getFirst().used().broughtBy());
        }
    }

    @Test
    void aProcessNumberThatIsUsedAgainIsAnotherProcess() throws Exception {
        asked("make");
        run.start(40, 200, AGENT, "sh", "-c", "make");
        run.exit(50, 200, AGENT);
        var again = ToolRun.process(200, 1, 55);
        run.fork(55, again, 1);
        long write = run.write(150, again, "/tmp/x", 1);
        var below = ToolRun.process(210, 200, 45);
        run.fork(45, below, 200);
        long old = run.write(151, below, "/tmp/y", 1);
        Recordings recordings = run.recordings();
        assertEquals("X -", run.tie(recordings, write));
        assertEquals("A use-1", run.tie(recordings, old));
    }

    @Test
    void whatWasLeftRunningIsStillTied() throws Exception {
        asked("nohup server &");
        run.start(40, 200, AGENT, "sh", "-c", "nohup server &");
        run.start(42, 201, 200, "server");
        run.exit(50, 200, AGENT);
        long write = run.write(5_000, 201, 1, "/var/log/server", 10);
        long exec = run.start(5_001, 202, 201, "worker");
        Recordings recordings = run.recordings();
        assertEquals("A use-1", run.tie(recordings, write));
        assertEquals("A use-1", run.tie(recordings, exec));
    }

    @Test
    void anotherToolsTextBelowAToolDoesNotMakeItTheOthers() throws Exception {
        run.call(4000, 0, 10, 30, List.of(), Use.shell("liar", "./run", 20), Use.shell("push", "git push", 20));
        run.start(40, 200, AGENT, "sh", "-c", "./run");
        long lie = run.start(42, 201, 200, "sh", "-c", "git push");
        run.call(4000, 1, 100, 110, List.of("liar", "push"));
        Recordings recordings = run.recordings();
        assertEquals("A liar", run.tie(recordings, lie));
        assertEquals(Grade.X, run.caused(recordings, "push").tools().getFirst().grade());
    }

    @Test
    void whatAToolLeftRunningIsBelievedToDoAnothersOnlyIfNothingElseDid() throws Exception {
        asked("./daemon &");
        run.start(40, 200, AGENT, "sh", "-c", "./daemon &");
        run.start(42, 201, 200, "./daemon");
        run.call(
                4000, 2, 200, 230, List.of(), Use.shell("test", "make test", 220), Use.shell("lint", "make lint", 220));
        long real = run.start(240, 202, AGENT, "sh", "-c", "make test");
        long lie = run.start(250, 203, 201, "sh", "-c", "make test");
        long alone = run.start(260, 204, 201, "sh", "-c", "make lint");
        run.call(4000, 3, 300, 310, List.of("test", "lint"));
        Recordings recordings = run.recordings();
        assertEquals("A test", run.tie(recordings, real));
        assertEquals("A use-1", run.tie(recordings, lie));
        assertEquals("B lint", run.tie(recordings, alone));
    }

    @Test
    void aShellThatIsKeptRunsEachCommand() throws Exception {
        asked("git status");
        run.start(40, 200, AGENT, "bash");
        long one = run.start(50, 201, 200, "git", "status");
        run.call(4000, 2, 200, 230, List.of(), Use.shell("two", "git log --oneline", 220));
        long two = run.start(240, 202, 200, "git", "log", "--oneline");
        run.call(4000, 3, 300, 310, List.of("two"));
        Recordings recordings = run.recordings();
        assertEquals("A use-1", run.tie(recordings, one));
        assertEquals("A two", run.tie(recordings, two));
    }

    @Test
    void anAgentWhoseCallsAreProcessesOfTheirOwnIsKnownByWhatStartedThem() throws Exception {
        run.start(2, 500, 1, "bash", "loop.sh");
        run.start(11, 501, 500, "curl", "https://model.example/v1/messages");
        run.connect(12, 501, 500, 4100, ToolRun.MODEL_AT);
        run.call(4100, 0, 13, 30, List.of(), Use.shell("use-1", "make", 20));
        run.exit(31, 501, 500);
        long exec = run.start(40, 502, 500, "sh", "-c", "make");
        run.start(90, 503, 500, "curl", "https://model.example/v1/messages");
        run.connect(92, 503, 500, 4101, ToolRun.MODEL_AT);
        run.call(4101, 0, 100, 110, List.of("use-1"));
        assertEquals("B use-1", run.tie(run.recordings(), exec));
    }

    @Test
    void anAgentThatATooStartedIsTiedToItAndItsToolsToItsOwnCalls() throws Exception {
        run.call(4000, 0, 10, 30, List.of(), Use.shell("outer", "agent -p help", 20));
        run.start(40, 200, AGENT, "sh", "-c", "agent -p help");
        run.start(42, 201, 200, "node", "agent");
        run.connect(45, 201, 200, 4200, ToolRun.MODEL_AT);
        long inner = run.call(4200, 0, 50, 70, List.of(), Use.shell("inner", "make", 60));
        long exec = run.start(80, 202, 201, "sh", "-c", "make");
        run.call(4200, 1, 150, 160, List.of("inner"));
        long own = run.write(170, 201, 200, "/tmp/log", 1);
        run.call(4000, 1, 200, 210, List.of("outer"));
        Recordings recordings = run.recordings();
        assertEquals("A inner", run.tie(recordings, exec));
        assertEquals("A outer", run.tie(recordings, inner));
        assertEquals("A outer", run.tie(recordings, own));
    }

    @Test
    void eventsOutOfOrderAreTiedByTheirTimes() throws Exception {
        long inner = run.exec(52, 201, 200, "sh", "-c", "gcc x.c");
        long write = run.write(60, 201, 200, "/tmp/x.o", 1);
        run.fork(50, 201, 200);
        long exec = run.exec(41, 200, AGENT, "sh", "-c", "make");
        run.fork(40, 200, AGENT);
        asked("make");
        Recordings recordings = run.recordings();
        assertEquals("A use-1", run.tie(recordings, exec));
        assertEquals("A use-1", run.tie(recordings, inner));
        assertEquals("A use-1", run.tie(recordings, write));
    }

    @Test
    void wrappersThatStartWhatWasAskedForBelongToIt() throws Exception {
        run.call(4000, 0, 10, 30, List.of(), Use.shell("one", "sleep 1", 20), Use.shell("two", "make", 20));
        long wrapper = run.start(40, 200, AGENT, "nice", "-n", "5", "sandbox", "--profile", "x");
        long exec = run.start(45, 201, 200, "bash", "-lc", "make");
        run.call(4000, 1, 100, 110, List.of("one", "two"));
        Recordings recordings = run.recordings();
        assertEquals("A two", run.tie(recordings, exec));
        assertEquals("C two", run.tie(recordings, wrapper));
        assertEquals("one", run.why(recordings, wrapper).candidates().getFirst().id());
    }

    @Test
    void filesThatTheRuntimeWritesItselfAreTiedByPathAndLength() throws Exception {
        run.call(
                4000,
                0,
                10,
                30,
                List.of(),
                Use.of("write", "write", "{\"content\":\"héllo\",\"file_path\":\"/workspace/a\"}", 20),
                Use.of("short", "write", "{\"content\":\"x\",\"path\":\"b\"}", 20),
                Use.of("edit", "edit", "{\"file_path\":\"/workspace/c\",\"new_string\":\"y\"}", 20),
                Use.of("patch", "apply_patch", "*** Begin Patch\n*** Update File: src/d\n@@\n-a\n+b\n", 20),
                Use.of("list", "ls", "{\"path\":\"/workspace/src\"}", 20));
        long write = run.write(40, AGENT, 1, "/workspace/a", 6);
        long other = run.write(41, AGENT, 1, "/workspace/b", 9);
        long renamed = run.rename(42, AGENT, 1, "/workspace/c.tmp.1", "/workspace/c");
        long patched = run.write(43, AGENT, 1, "/workspace/src/d", 6);
        long listed = run.write(44, AGENT, 1, "/workspace/src/e", 6);
        long beside = run.write(45, AGENT, 1, "/workspace/c.tmp.1", 6);
        run.call(4000, 1, 100, 110, List.of("write", "short", "edit", "patch", "list"));
        Recordings recordings = run.recordings();
        assertEquals("A write", run.tie(recordings, write));
        assertEquals("B short", run.tie(recordings, other));
        assertEquals("A edit", run.tie(recordings, renamed));
        assertEquals("A patch", run.tie(recordings, patched));
        assertEquals("C list", run.tie(recordings, listed));
        assertEquals("B edit", run.tie(recordings, beside));
    }

    @Test
    void whatIsFetchedIsTiedByTheHostAndMcpByNameAndArguments() throws Exception {
        run.call(
                4000,
                0,
                10,
                30,
                List.of(),
                Use.of("fetch", "web_fetch", "{\"url\":\"https://site.example/x\"}", 20),
                Use.of("search", "mcp__server__search", "{\"query\":\"a\"}", 20));
        long connect = run.connect(40, AGENT, 1, 4300, SITE);
        long decision = run.decision(41, 4300, SITE, "site.example");
        run.connect(50, AGENT, 1, 4301, new Endpoint("10.0.3.8", 443));
        long mcp = run.mcp(60, 4301, new Endpoint("10.0.3.8", 443), "search", "{\"query\":\"a\"}");
        long wrong = run.mcp(61, 4301, new Endpoint("10.0.3.8", 443), "search", "{\"query\":\"b\"}");
        run.call(4000, 1, 100, 110, List.of("fetch", "search"));
        Recordings recordings = run.recordings();
        assertEquals("A fetch", run.tie(recordings, connect));
        assertEquals("A fetch", run.tie(recordings, decision));
        assertEquals("A search", run.tie(recordings, mcp));
        assertEquals("B search", run.tie(recordings, wrong));
        assertEquals(
                "search",
                run.caused(recordings, "search")
                        .tools()
                        .getFirst()
                        .effects()
                        .mcpCalls()
                        .getFirst()
                        .what());
    }

    /// The second request goes over the connection of the first; the call of the model meanwhile is no effect.
    @Test
    void aRequestOnAConnectionThatWasThereIsTied() throws Exception {
        run.connect(6, AGENT, 1, 4300, SITE);
        run.call(4000, 0, 10, 30, List.of(), Use.of("fetch", "web_fetch", "{\"url\":\"https://site.example/x\"}", 20));
        long request = run.exchange(40, 4300, 1, SITE, "site.example");
        run.call(4000, 1, 50, 60, List.of());
        run.exchange(61, 4000, 1);
        run.call(4000, 2, 100, 110, List.of("fetch"));
        Recordings recordings = run.recordings();
        assertEquals("A fetch", run.tie(recordings, request));
        assertEquals(
                List.of(request),
                run.caused(recordings, "fetch").tools().getFirst().effects().connects().stream()
                        .map(Caused.Peer::index)
                        .toList());
    }

    @Test
    void aConnectionWithoutItsPortIsKnownByTheFlowOrByTheOnlyProcessThatCalled() throws Exception {
        var other = new ToolRun(folder.resolve("other"));
        other.start(1, AGENT, 1, "node", "agent");
        other.connect(5, AGENT, 1, 0, ToolRun.MODEL_AT);
        other.call(4000, 0, 10, 30, List.of(), Use.shell("use-1", "make", 20));
        long exec = other.start(40, 200, AGENT, "sh", "-c", "make");
        other.call(4000, 1, 100, 110, List.of("use-1"));
        other.flow(120, AGENT, 1, 4000, ToolRun.MODEL_AT);
        assertEquals("A use-1", other.tie(other.recordings(), exec));
        var third = new ToolRun(folder.resolve("third"));
        third.start(1, AGENT, 1, "node", "agent");
        third.connect(5, AGENT, 1, 0, ToolRun.MODEL_AT);
        third.call(4000, 0, 10, 30, List.of(), Use.shell("use-1", "make", 20));
        long only = third.start(40, 200, AGENT, "sh", "-c", "make");
        third.call(4000, 1, 100, 110, List.of("use-1"));
        assertEquals("B use-1", third.tie(third.recordings(), only));
    }

    @Test
    void withoutItsProcessOnlyTheTimeSpeaks() throws Exception {
        run.call(9999, 0, 10, 30, List.of(), Use.shell("use-1", "make", 20));
        run.start(2, 300, 1, "other");
        run.connect(5, 300, 1, 4001, ToolRun.MODEL_AT);
        long exec = run.start(40, 301, 1, "sh", "-c", "make");
        run.call(9999, 1, 100, 110, List.of("use-1"));
        long later = run.write(150, 301, 1, "/tmp/x", 1);
        Recordings recordings = run.recordings();
        assertEquals("D use-1", run.tie(recordings, exec));
        assertEquals("X -", run.tie(recordings, later), "only the time had tied it");
        assertTrue(run.why(recordings, exec).limits().stream()
                .anyMatch(limit -> limit.startsWith("of 2 calls of models it is not known which process made them")));
    }

    @Test
    void theToleranceCoversTheClocksAndNoMore() throws Exception {
        asked("make");
        long early = run.start(14, 200, AGENT, "sh", "-c", "make");
        long late = run.start(110, 201, AGENT, "sh", "-c", "make");
        Recordings recordings = run.recordings();
        assertEquals("A use-1", run.tie(recordings, early));
        assertEquals("X -", run.tie(recordings, late));
    }

    @Test
    void howFarTheGuestsClockWasOffIsTakenIntoAccountAndSaid() throws Exception {
        asked("make");
        long late = run.start(130, 200, AGENT, "sh", "-c", "make");
        long later = run.start(200, 201, AGENT, "git", "status");
        run.call(4000, 2, 1_000, 1_020, List.of(), Use.shell("use-2", "make check", 1_010));
        long early = run.start(600, 202, AGENT, "sh", "-c", "make check");
        run.call(4000, 3, 1_100, 1_110, List.of("use-2"));
        Recordings recordings = run.drifted(40, 3_000);
        assertEquals("A use-2", run.tie(recordings, early), "a guest that is behind tells it too early");
        assertEquals("A use-1", run.tie(recordings, late));
        assertEquals("X -", run.tie(recordings, later));
        String limit = run.why(recordings, late).limits().getFirst();
        assertTrue(limit.contains("up to 3000 ms off the host's"), limit);
        assertTrue(limit.contains("up to 505 ms before a tool was asked for, or 45 ms after"), limit);
    }

    @Test
    void anEventThatIsNotThereIsSaidSo() throws Exception {
        asked("make");
        Recordings recordings = run.recordings();
        for (long index : new long[] {-1, 1_000_000}) {
            var e = assertThrows(QueryException.class, () -> run.why(recordings, index));
            assertEquals(QueryException.Code.NOT_FOUND, e.code());
            assertTrue(String.valueOf(e.getMessage()).contains("`blackbox events "), e::getMessage);
        }
    }

    @Test
    void withoutCallsThereIsNothingToFollowFrom() throws Exception {
        long exec = run.exec(40, ToolRun.process(200, AGENT, 200), Marks.NONE, "make");
        assertEquals(
                "follows from no call: no call of a model is in the record",
                run.why(run.recordings(), exec).answer());
    }
}
