package blackbox.cli.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Text;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Values of environment variables do not leave the guest: neither in events nor in the tracer's stream, which the
/// exact tier keeps as it is.
class TracerSecretsTest {

    @TempDir
    Path folder;

    @Test
    void theStreamHoldsNamesOfVariablesAndNoValue() throws Exception {
        TracedGuest.Ran ran = TracedGuest.run(folder, "secrets.py", "python3", "/workspace/secrets.py");
        assertEquals("No such file or directory\n", ran.printed());
        assertEquals(names(32, i -> "N".repeat(1 + i)), exec(ran, "aligned").env());
        assertEquals(names(500, i -> "VARIABLE_" + i), exec(ran, "many").env());
        assertEquals(
                Stream.of("EQUALS", "LINES", "EMPTY", "LATIN").map(Text::of).toList(),
                exec(ran, "odd").env());
        // 40 variables of 1,357 to 1,358 octets and their NULs: 12 fit whole, the 13th is cut within its value.
        assertEquals(names(13, i -> "LONG_" + i), exec(ran, "long").env());
        assertEquals(
                Stream.of("FIRST", "WHOLE").map(Text::of).toList(),
                exec(ran, "cut").env());
        String stream = Files.readString(ran.stream(), StandardCharsets.ISO_8859_1);
        assertTrue(stream.contains("EQUALS=" + "*".repeat(12) + "\0"), "names and the length of values stay");
        assertTrue(stream.contains("N=" + "*".repeat(9) + "\0"));
        assertFalse(stream.contains("FAILED"), "a failed execve is sent without its environment");
        // The script's own text is not in the stream, so that any trace of the secret, even a part, is a value's.
        assertFalse(stream.contains("sw0rd"));
        assertFalse(stream.contains("f1sh"));
    }

    @Test
    void theFirstDatagramOfAFlowIsSentOnceDespitePauses() throws Exception {
        TracedGuest.Ran ran = TracedGuest.run(folder, "datagrams.py", "python3", "/workspace/datagrams.py");
        assertEquals(1, firsts(ran, 7002));
        assertEquals(60, octetsOut(ran, 7002));
        assertEquals(2, firsts(ran, 7003), "a new socket begins a new flow, whatever its port");
        assertEquals(90, octetsOut(ran, 7003));
    }

    private static long firsts(TracedGuest.Ran ran, int port) {
        return ran.all(Event.NetCall.class).stream()
                .filter(call -> call.kind() == Kind.NET_SEND && isFrom(call.local(), port))
                .count();
    }

    private static long octetsOut(TracedGuest.Ran ran, int port) {
        return ran.all(Event.NetFlow.class).stream()
                .filter(flow -> isFrom(flow.local(), port))
                .mapToLong(Event.NetFlow::bytesOut)
                .sum();
    }

    private static boolean isFrom(@Nullable Endpoint local, int port) {
        return local != null && local.port() == port;
    }

    private static List<Text> names(int count, IntFunction<String> name) {
        return IntStream.range(0, count).mapToObj(name).map(Text::of).toList();
    }

    private static Event.ProcessExec exec(TracedGuest.Ran ran, String name) {
        return ran.all(Event.ProcessExec.class).stream()
                .filter(exec -> exec.ret() == 0 && isNamed(exec, name))
                .findFirst()
                .orElseThrow();
    }

    private static boolean isNamed(Event.ProcessExec exec, String name) {
        List<Text> argv = exec.argv();
        return argv != null && argv.size() > 1 && argv.get(1).equals(Text.of(name));
    }
}
