package blackbox.query.otlp;

import static blackbox.query.otlp.CallingRun.AGENT;
import static blackbox.query.otlp.CallingRun.written;
import static blackbox.query.otlp.Otlp.attributes;
import static blackbox.query.why.ToolRun.ns;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.query.otlp.RunTrace.Content;
import blackbox.query.otlp.RunTrace.Programs;
import blackbox.schemas.event.Actor;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status.StatusCode;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The programs of a run in its trace.
class ProgramSpansTest {

    @TempDir
    Path folder;

    private CallingRun run;

    @BeforeEach
    void record() throws Exception {
        run = new CallingRun(folder);
    }

    private RunTrace trace(Content content) throws Exception {
        return run.trace(run.agent.recordings(), content, Programs.INCLUDED);
    }

    /// The program that the agent is.
    private static Span agent(Otlp otlp) {
        return otlp.spans().stream()
                .filter(span -> Long.valueOf(AGENT).equals(attributes(span).get("process.pid")))
                .findFirst()
                .orElseThrow();
    }

    /// A shell that runs two programs, the second of which becomes a third one.
    @Test
    void aProgramIsBelowTheOneThatStartedIt() throws Exception {
        run.agent.start(10, 300, AGENT, "sh", "-c", "make");
        run.agent.start(20, 301, 300, "make", "-s");
        run.agent.exit(30, 301, 300, 2, null);
        run.agent.fork(32, 302, 300);
        long env = run.agent.exec(33, 302, 300, "/usr/bin/env", "sleep", "9");
        long sleep = run.agent.exec(34, 302, 300, "/opt/bin/sleep", "9");
        run.agent.exit(40, 302, 300, null, 15);
        run.agent.exit(41, 300, AGENT, 0, null);
        RunTrace trace = trace(Content.LEFT_OUT);
        Otlp otlp = Otlp.read(written(trace));
        assertEquals(4 + 1, trace.counts().programs());
        Span shell = otlp.span("sh");
        assertEquals(agent(otlp).getSpanId(), shell.getParentSpanId());
        assertEquals(otlp.span("invoke_agent").getSpanId(), agent(otlp).getParentSpanId());
        assertEquals(ns(11), shell.getStartTimeUnixNano());
        assertEquals(ns(41), shell.getEndTimeUnixNano());
        assertEquals(0L, attributes(shell).get("process.exit.code"));
        assertEquals(StatusCode.STATUS_CODE_UNSET, shell.getStatus().getCode());

        Span make = otlp.span("make");
        assertEquals(shell.getSpanId(), make.getParentSpanId());
        assertEquals("/usr/bin/make", attributes(make).get("process.executable.path"));
        assertEquals(301L, attributes(make).get("process.pid"));
        assertEquals(2L, attributes(make).get("process.exit.code"));
        assertEquals("exit_2", attributes(make).get("error.type"));
        assertEquals(StatusCode.STATUS_CODE_ERROR, make.getStatus().getCode());
        assertFalse(attributes(make).containsKey("process.command_args"));

        Span first = otlp.span("env");
        Span second = otlp.span("sleep");
        assertEquals(env, attributes(first).get("blackbox.event.index"));
        assertEquals(sleep, attributes(second).get("blackbox.event.index"));
        assertEquals(shell.getSpanId(), first.getParentSpanId());
        assertEquals(shell.getSpanId(), second.getParentSpanId());
        assertEquals(ns(34), first.getEndTimeUnixNano());
        assertEquals("exec", attributes(first).get("blackbox.program.ended"));
        assertEquals("signal", attributes(second).get("blackbox.program.ended"));
        assertEquals("signal_15", attributes(second).get("error.type"));
        assertNull(attributes(second).get("process.exit.code"));
    }

    @Test
    void aProgramThatAToolRanIsBelowTheTool() throws Exception {
        run.twoTurns();
        RunTrace trace = trace(Content.INCLUDED);
        Otlp otlp = Otlp.read(written(trace));
        Span tool = otlp.span("execute_tool shell");
        Span bash = otlp.span("bash");
        assertEquals(tool.getSpanId(), bash.getParentSpanId());
        assertEquals(
                attributes(tool).get("blackbox.event.index"), attributes(bash).get("blackbox.within.event"));
        assertEquals(List.of("bash", "-lc", "make install"), attributes(bash).get("process.command_args"));
        assertEquals(3, trace.counts().models() + trace.counts().tools());
    }

    /// Not all programs of a tool beside each other.
    @Test
    void whatAToolsProgramStartedIsBelowThatProgram() throws Exception {
        run.twoTurns();
        run.agent.start(50, 201, 200, "make", "install");
        run.agent.start(55, 202, 201, "cp", "a", "b");
        RunTrace trace = trace(Content.LEFT_OUT);
        Otlp otlp = Otlp.read(written(trace));
        Span tool = otlp.span("execute_tool shell");
        assertEquals(tool.getSpanId(), otlp.span("bash").getParentSpanId());
        assertEquals(otlp.span("bash").getSpanId(), otlp.span("make").getParentSpanId());
        assertEquals(otlp.span("make").getSpanId(), otlp.span("cp").getParentSpanId());
        assertEquals(
                attributes(tool).get("blackbox.event.index"),
                attributes(otlp.span("cp")).get("blackbox.within.event"));
    }

    /// A guest that runs programs with many arguments fills neither the memory nor a receiver.
    @Test
    void argumentsAreCut() throws Exception {
        String[] many = new String[60_000];
        Arrays.fill(many, "");
        many[0] = "true";
        for (int i = 0; i < 20; i++) {
            run.agent.start(10 + 3 * i, 300 + i, AGENT, many);
        }
        RunTrace trace = trace(Content.INCLUDED);
        Otlp otlp = Otlp.read(written(trace));
        Map<String, Object> said = attributes(otlp.spans().getLast());
        assertEquals(true, said.get("blackbox.program.arguments_truncated"));
        assertTrue(((List<?>) said.getOrDefault("process.command_args", List.of())).size() < 1_000, said::toString);
        assertTrue(trace.parts().allMatch(part -> part.json().length() < 1 << 20));
    }

    /// As events of several processors can be.
    @Test
    void aForkMayBeToldAfterWhatTheChildExecuted() throws Exception {
        run.agent.start(10, 300, AGENT, "sh");
        run.agent.exec(21, 301, 300, "ls");
        run.agent.fork(20, 301, 300);
        run.agent.exit(30, 301, 300, 0, null);
        RunTrace trace = trace(Content.LEFT_OUT);
        Otlp otlp = Otlp.read(written(trace));
        assertEquals(otlp.span("sh").getSpanId(), otlp.span("ls").getParentSpanId());
        assertEquals(ns(30), otlp.span("ls").getEndTimeUnixNano());
    }

    /// What has no span itself does not end what was there before it a second time.
    @Test
    void aProgramWithoutASpanLeavesTheOneBeforeItAlone() throws Exception {
        run.agent.start(10, 300, AGENT, "sh");
        String[] big = new String[300];
        Arrays.fill(big, "x".repeat(50));
        big[0] = "big";
        run.agent.exec(20, 300, AGENT, big);
        run.agent.exit(30, 300, AGENT, 1, null);
        RunTrace trace =
                RunTrace.collect(run.agent.recordings(), run.agent.run.run, Content.INCLUDED, Programs.INCLUDED, 2_500);
        Span shell = Otlp.read(written(trace)).span("sh");
        assertEquals(ns(20), shell.getEndTimeUnixNano());
        assertEquals("exec", attributes(shell).get("blackbox.program.ended"));
        assertNull(attributes(shell).get("process.exit.code"));
        assertEquals(1, trace.counts().leftOut());
    }

    @Test
    void withoutAnEndItLastsAsLongAsTheRecord() throws Exception {
        run.agent.start(10, 300, AGENT, "sleep", "9");
        run.mcp(90, "tools/list", CallingRun.request(80, 85));
        RunTrace trace = trace(Content.LEFT_OUT);
        Otlp otlp = Otlp.read(written(trace));
        Span sleep = otlp.span("sleep");
        assertEquals(otlp.span("invoke_agent").getEndTimeUnixNano(), sleep.getEndTimeUnixNano());
        assertEquals("not-recorded", attributes(sleep).get("blackbox.program.ended"));
        assertTrue(
                trace.limits().stream().anyMatch(each -> each.startsWith("the end of 2 programs is not known")),
                trace.limits()::toString);
    }

    /// Of a guest that says that a program ended before it began, and of what it started.
    @Test
    void timesThatCannotBeAreSaid() throws Exception {
        run.agent.start(50, 300, AGENT, "sh");
        run.agent.start(60, 301, 300, "ls");
        run.agent.exit(61, 301, 300, 0, null);
        run.agent.exit(40, 300, AGENT, 0, null);
        RunTrace trace = trace(Content.LEFT_OUT);
        Otlp otlp = Otlp.read(written(trace));
        assertEquals(agent(otlp).getSpanId(), otlp.span("ls").getParentSpanId());
        assertEquals(1 + 1, trace.counts().programs());
        assertEquals(1, trace.counts().leftOut());
        assertTrue(
                trace.limits().stream().anyMatch(each -> each.startsWith("1 programs have no span")),
                trace.limits()::toString);
    }

    @Test
    void whatRunsTheAgentIsNotTheAgents() throws Exception {
        run.agent.by(Actor.SUPERVISOR);
        run.agent.start(10, 300, 1, "python3", "/init.py");
        run.agent.fork(20, 301, 300);
        run.agent.by(Actor.AGENT);
        run.agent.exec(21, 301, 300, "pi");
        run.agent.exit(30, 301, 300, 0, null);
        RunTrace trace = trace(Content.LEFT_OUT);
        Otlp otlp = Otlp.read(written(trace));
        assertEquals(1 + 1, trace.counts().programs());
        assertEquals(otlp.span("invoke_agent").getSpanId(), otlp.span("pi").getParentSpanId());
    }

    @Test
    void beyondTheLimitNothingIsLeftOutSilently() throws Exception {
        for (int i = 0; i < 30; i++) {
            run.agent.start(10 + 3 * i, 300 + i, i == 29 ? 328 : AGENT, "ls", "-" + i);
        }
        RunTrace small =
                RunTrace.collect(run.agent.recordings(), run.agent.run.run, Content.LEFT_OUT, Programs.INCLUDED, 3_000);
        long programs = small.counts().programs();
        assertTrue(programs > 0 && programs < 31, small.counts()::toString);
        assertEquals(31 - programs, small.counts().leftOut());
        assertTrue(
                small.limits().stream().anyMatch(each -> each.startsWith((31 - programs) + " programs have no span")),
                small.limits()::toString);
    }
}
