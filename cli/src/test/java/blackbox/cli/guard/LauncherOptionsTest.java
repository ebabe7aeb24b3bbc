package blackbox.cli.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What the launcher makes of the JVM, as the JVM itself states it.
class LauncherOptionsTest {
    private static final Path LAUNCHER = Path.of("..", "blackbox");
    private static final long MIB = 1 << 20;

    @ParameterizedTest
    @CsvSource({"demo, 640", "record, 640", "replay, 1024", "serve, 1024"})
    void whatRunsAGuestOrReadsOfOneHasAStatedHeap(String command, long heapMib) throws Exception {
        assertEquals(heapMib * MIB, heap(flags(command, "")));
        assertEquals(256 * MIB, heap(flags(command, "-Xmx256m")), "BLACKBOX_JAVA_OPTS counts");
    }

    @Test
    void otherCommandsHaveTheJvmsHeap() throws Exception {
        assertFalse(line("MaxHeapSize", flags("query", "")).contains("command line"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"record", "query", "keys"})
    void noOtherProcessAttachesAndNothingIsDumped(String command) throws Exception {
        String flags = flags(command, "");
        assertTrue(line("DisableAttachMechanism", flags).contains("= true"), flags);
        assertTrue(line("HeapDumpOnOutOfMemoryError", flags).contains("= false"), flags);
    }

    @Test
    void doctorSaysIt() throws Exception {
        String said = said("doctor", "");
        assertTrue(said.contains("at most 640 MiB for demo and record,"), said);
        assertTrue(said.contains("1024 MiB for replay and serve,"), said);
    }

    private static String flags(String command, String options) throws Exception {
        return said(command, options + " -XX:+PrintFlagsFinal -version");
    }

    private static String said(String command, String options) throws Exception {
        var builder = new ProcessBuilder("sh", LAUNCHER.toString(), command).redirectErrorStream(true);
        builder.environment().put("BLACKBOX_JAVA_OPTS", options);
        Process process = builder.start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return said;
    }

    private static long heap(String flags) {
        Matcher value = Pattern.compile("= (\\d+)").matcher(line("MaxHeapSize", flags));
        assertTrue(value.find(), flags);
        return Long.parseLong(value.group(1));
    }

    private static String line(String flag, String flags) {
        return flags.lines()
                .filter(line -> line.contains(" " + flag + " "))
                .findFirst()
                .orElseThrow(() -> new AssertionError("the JVM does not know " + flag + ": " + flags));
    }
}
