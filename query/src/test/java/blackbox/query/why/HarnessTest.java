package blackbox.query.why;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.query.why.Wanted.Fit;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// What coding agents wrap around a command is taken away, and what they ask for is read from their tools'
/// arguments.
class HarnessTest {

    private static Fit fit(String arguments, String... argv) {
        return fit(arguments, false, false, argv);
    }

    private static Fit fit(String arguments, boolean cut, boolean argvCut, String... argv) {
        List<String> words = List.of(argv);
        return Wanted.of(arguments, cut).program(words, Harness.commands(words), argvCut);
    }

    @Test
    void plainShells() {
        assertEquals(Fit.EXACT, fit("{\"command\":\"ls -l | wc\"}", "/bin/sh", "-c", "ls -l | wc"));
        assertEquals(Fit.EXACT, fit("{\"command\":\" ls -l;\\n\"}", "bash", "-lc", "ls -l"));
        assertEquals(Fit.EXACT, fit("{\"command\":\"ls\"}", "-bash", "-l", "-c", "ls"));
        assertEquals(Fit.EXACT, fit("{\"command\":\"git commit -m 'a b'\"}", "git", "commit", "-m", "a b"));
        assertEquals(Fit.NONE, fit("{\"command\":\"ls -l\"}", "sh", "-c", "ls -la"));
        assertEquals(Fit.NONE, fit("{\"command\":\"ls -l\"}", "sh", "script", "-c", "ls -l"));
        assertEquals(Fit.NONE, fit("{\"command\":\"ls -l\"}", "echo", "ls -l"));
        assertEquals(Fit.NONE, fit("{\"command\":\"ls -l\"}", "echo", "ls", "-l"));
        assertEquals(Fit.NONE, fit("{\"command\":\"\"}", "sh", "-c", ""));
        assertEquals(Fit.NONE, fit("{}", "sh", "-c", "ls"));
        assertEquals(Fit.NONE, fit("{\"command\":\"ls *.c\"}", "ls", "*.c"), "a shell would have expanded it");
    }

    @Test
    void claudeCode() {
        String wanted = "{\"command\":\"echo 'it'\\\"'\\\"'s' > /tmp/one && ls\",\"description\":\"d\"}";
        String script =
                "source /home/a/.claude/shell-snapshots/s.sh && eval 'echo '\\''it'\\''\"'\\''\"'\\''s'\\'' > /tmp/one"
                        + " && ls' \\< /dev/null && pwd -P >| /tmp/claude-1a2b-cwd";
        assertEquals(Fit.EXACT, fit(wanted, "/bin/bash", "-c", "-l", script));
        String piped =
                "shopt -u extglob 2>/dev/null || true && eval 'cat x \\< /dev/null | wc -l' && pwd -P >| /tmp/claude-9-cwd";
        assertEquals(Fit.EXACT, fit("{\"command\":\"cat x | wc -l\"}", "/bin/bash", "-c", piped));
    }

    @Test
    void claudeCodeQuotesAsNeeded() {
        String end = " \\< /dev/null && pwd -P >| /tmp/claude-1-cwd";
        assertEquals(Fit.EXACT, fit("{\"command\":\"ls\"}", "/bin/bash", "-c", "eval ls" + end));
        assertEquals(Fit.EXACT, fit("{\"command\":\"ls;pwd\"}", "/bin/bash", "-c", "eval ls\\;pwd" + end));
        assertEquals(
                Fit.EXACT,
                fit(
                        "{\"command\":\"test ! -f 'a b' && echo $X\"}",
                        "/bin/bash",
                        "-c",
                        "source s && eval \"test \\! -f 'a b' && echo \\$X\"" + end));
    }

    @Test
    void codex() {
        String wanted = "{\"command\":[\"bash\",\"-lc\",\"make test\"],\"workdir\":\"/w\"}";
        assertEquals(Fit.EXACT, fit(wanted, "bash", "-lc", "make test"));
        assertEquals(Fit.EXACT, fit(wanted, "/usr/bin/zsh", "-lc", "make test"), "the same for another shell");
        assertEquals(Fit.EXACT, fit("{\"command\":[\"ls\",\"-l\"]}", "ls", "-l"));
        assertEquals(Fit.NONE, fit("{\"command\":[\"ls\",\"-l\"]}", "echo", "ls", "-l"));
        assertEquals(
                Fit.EXACT,
                fit(wanted, "/opt/codex-linux-sandbox", "--sandbox-policy", "{}", "--", "bash", "-lc", "make test"));
        assertEquals(Fit.EXACT, fit("{\"cmd\":\"make test\"}", "/bin/bash", "-lc", "make test"));
        assertEquals(
                Fit.EXACT,
                fit(
                        "{\"cmd\":\"make test\"}",
                        "bash",
                        "-c",
                        "if . /s.sh; then :; fi\n\nexec '/bin/bash' -c 'make test'"));
        String patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch";
        assertEquals(Fit.EXACT, fit(patch, "/opt/codex", "--codex-run-as-apply-patch", patch));
        assertEquals(List.of("a.txt"), Wanted.of(patch, false).paths());
    }

    @Test
    void geminiCli() {
        String script =
                "shopt -u promptvars nullglob; { make test; }; __code=$?; pgrep -g 0 >/tmp/shell_pgrep_1.tmp 2>&1;"
                        + " exit $__code;";
        assertEquals(Fit.EXACT, fit("{\"command\":\"make test\"}", "bash", "-c", script));
    }

    @Test
    void interpreters() {
        assertEquals(Fit.EXACT, fit("{\"code\":\"print(1)\"}", "python3", "-c", "print(1)"));
        assertEquals(Fit.EXACT, fit("{\"code\":\"1+1\"}", "timeout", "9", "node", "-e", "1+1"));
        assertEquals(Fit.NONE, fit("{\"code\":\"x\"}", "grep", "-e", "x"));
    }

    @Test
    void whatWasCutIsComparedAsFarAsItGoes() {
        String cut = "{\"command\":\"cat > x <<EOF\\nmany lines";
        assertEquals(Fit.CLOSE, fit(cut, true, false, "sh", "-c", "cat > x <<EOF\nmany lines of text"));
        assertEquals(Fit.NONE, fit(cut, true, false, "sh", "-c", "cat > y <<EOF\nmany lines of text"));
        assertEquals(Fit.NONE, fit("{\"command\":\"ca", true, false, "sh", "-c", "cat x"), "too short");
        assertEquals(
                Fit.CLOSE,
                fit("{\"command\":\"cat > x; many more lines\"}", false, true, "sh", "-c", "cat > x; many more"));
    }

    @Test
    void whatToolsAskFor() {
        Wanted wanted = Wanted.of(
                "{\"edits\":[{\"filePath\":\"/b\"}],\"content\":\"é\",\"file_path\":\"/a\",\"url\":\"https://X.example:8/\"}",
                false);
        assertEquals(Set.of("/a", "/b"), Set.copyOf(wanted.paths()));
        assertEquals(2, wanted.contentBytes());
        assertEquals(Set.of("x.example"), wanted.hosts());
        assertEquals(List.of(), Wanted.of("{\"url\":\"::not a url\"}", false).commands());
        assertEquals(List.of(), Wanted.of(null, false).commands());
        String deep = "{\"a\":".repeat(100) + "{\"command\":\"x\"}" + "}".repeat(100);
        assertEquals(List.of(), Wanted.of(deep, false).commands());
    }

    @Test
    void wordsOfAShell() {
        assertEquals(List.of("a", "b c", "d\"e", "f"), ShellWords.simple("a 'b c' d\\\"e \"f\""));
        assertNull(ShellWords.simple("A=1 b"));
        assertNull(ShellWords.simple("a 'b"));
        assertNull(ShellWords.simple("a \"$b\""));
        assertEquals("it's", ShellWords.word("'it'\\''s' && x", 0));
    }
}
