package blackbox.cli.argv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class HiddenArgumentsTest {

    private static final String SECRET = "--env=TOKEN=dead\nbeef";

    /// Another process, which gives back its arguments as it has them and waits: see [#main].
    private static Process start(String... arguments) throws IOException {
        var command = new ArrayList<>(
                List.of(System.getProperty("java.home") + "/bin/java", "-Xint", HiddenArgumentsTest.class.getName()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        // The kernel shows no more than a page of a title.
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        return builder.start();
    }

    /// Says how many arguments there are, hides all but the first, says so, and works until standard input ends.
    public static void main(String[] args) throws IOException {
        System.out.println(GivenArguments.of(args).length);
        HiddenArguments.hide(args.length - 1);
        System.out.println("hidden");
        System.in.transferTo(OutputStream.nullOutputStream());
    }

    private static String shown(String... arguments) throws Exception {
        Process process = start(arguments);
        try (BufferedReader said = process.inputReader()) {
            assertEquals(String.valueOf(arguments.length), said.readLine());
            assertEquals("hidden", said.readLine());
            Path cmdline = Path.of("/proc", Long.toString(process.pid()), "cmdline");
            String shown = Files.readString(cmdline, StandardCharsets.ISO_8859_1);
            process.outputWriter().close();
            assertEquals(0, process.waitFor());
            return shown;
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void othersSeeNeitherTheArgumentsNorTheirLength() throws Exception {
        String one = shown("record", SECRET, "", "--", "agent", "ü漢", "");
        String java = System.getProperty("java.home") + "/bin/java";
        assertEquals(java + " -Xint " + HiddenArgumentsTest.class.getName() + " record\0", one);
        assertEquals(one, shown("record", "x".repeat(100_000)));
        assertEquals(one, shown("record", ""));
    }

    @Test
    void theRestIsOneWordForTheKernel() {
        byte[] cmdline = "java\0-jar\0record\0a\0\0b\0".getBytes(StandardCharsets.US_ASCII);
        byte[] title = "java -jar record\0     ".getBytes(StandardCharsets.US_ASCII);
        assertArrayEquals(title, HiddenArguments.title(cmdline, 3));
        byte[] empty = "java\0record\0\0".getBytes(StandardCharsets.US_ASCII);
        assertArrayEquals("java record\0 ".getBytes(StandardCharsets.US_ASCII), HiddenArguments.title(empty, 1));
    }
}
