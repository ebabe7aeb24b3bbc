package blackbox.query.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What a coding agent ran is to be read on the line, whatever is around it.
class ShownCommandTest {
    private static final String BEFORE =
            "source /root/.agent/shell-snapshots/snapshot-bash-1732464000000-x1y2z3.sh 2>/dev/null || true"
                    + " && shopt -u extglob 2>/dev/null || true && ";
    private static final String AFTER = " < /dev/null && pwd -P >| /tmp/agent-5c3f-cwd";

    private static String shown(String script, int max) {
        return ShownCommand.of(List.of("/bin/bash", "-c", script), max);
    }

    @ParameterizedTest
    @ValueSource(ints = {90, 120, 160})
    void theCommandOfACodingAgentIsNotCutOff(int max) {
        String line = shown(BEFORE + "eval 'npm test -- --grep parser'" + AFTER, max);
        assertEquals("/bin/bash -c … eval 'npm test -- --grep parser' …", line);
    }

    @Test
    void aQuotedQuoteDoesNotEndIt() {
        String line = shown(BEFORE + "eval 'echo it'\\''s; rm x'" + AFTER, 90);
        assertEquals("/bin/bash -c … eval 'echo it'\\''s; rm x' …", line);
        line = shown(BEFORE + "eval 'echo it'\"'\"'s; rm x'" + AFTER, 90);
        assertEquals("/bin/bash -c … eval 'echo it'\"'\"'s; rm x' …", line);
    }

    @Test
    void aLongCommandKeepsItsBeginningAndItsEnd() {
        String line = shown(BEFORE + "eval 'git log " + "x".repeat(300) + " --oneline'" + AFTER, 90);
        assertEquals(90, line.length());
        assertTrue(line.startsWith("/bin/bash -c … eval 'git log xxx"), line);
        assertTrue(line.endsWith(" --oneline' …"), line);
        line = ShownCommand.of(List.of("cc", "-I" + "y".repeat(300), "main.c"), 40);
        assertEquals(40, line.length());
        assertTrue(line.startsWith("cc -Iyyy") && line.endsWith("yy main.c"), line);
    }

    @Test
    void whatFitsIsShownAsItIs() {
        assertEquals("/bin/bash -c eval 'ls'", shown("eval 'ls'", 90));
        assertEquals("a", ShownCommand.of(List.of("a"), 90));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "eval ", "eval", "eval 'open", "evaluate 'x'", "a;eval\t'x'", "eval \"", "\\", "eval '\\"})
    void whateverTheScriptItFits(String script) {
        for (int max : new int[] {20, 40, 90}) {
            for (int spaces : new int[] {0, 1, 100}) {
                String line = shown(" ".repeat(spaces) + script + " ".repeat(spaces) + script, max);
                assertTrue(line.length() <= max, line);
            }
        }
    }
}
