package blackbox.cli.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.OrdinaryUser;
import blackbox.cli.exit.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Another process of the same user finds a running `./blackbox` closed, where it finds any other process open.
class UndumpableTest {
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final List<String> ATTEMPTS = List.of(
            "read mem", "write mem", "read environ", "read maps", "list fd", "read the link exe", "jcmd", "trace");

    private static OrdinaryUser user;

    @BeforeAll
    static void make() throws Exception {
        user = OrdinaryUser.make();
    }

    @AfterAll
    static void close() throws Exception {
        user.close();
    }

    @Test
    void anotherProcessOfTheUserCanNeitherTraceNorLookIntoServe() throws Exception {
        Process serve = user.blackbox("serve", "--listen", "127.0.0.1:0")
                .redirectErrorStream(true)
                .start();
        try (var said = serve.inputReader()) {
            String line = said.readLine();
            while (line != null && !line.startsWith("listening on ")) {
                line = said.readLine();
            }
            assertTrue(line != null, "serve has ended");
            assertEquals(lines("refused: "), tried(String.valueOf(serve.pid())));
            String limits = Files.readString(Path.of("/proc", String.valueOf(serve.pid()), "limits"));
            assertTrue(limits.lines().anyMatch(each -> each.matches("Max core file size +0 +0 .*")), limits);
        } finally {
            serve.destroy();
            assertTrue(serve.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        }
    }

    @Test
    void anotherProcessOfTheUserCanDoAllThatToAnyOtherJvm() throws Exception {
        assertEquals(lines("done: "), tried());
    }

    /// A descriptor that it was given, and a variable: both come from what `/proc` says of the process itself.
    @Test
    void commandsStillReadTheirOwnDescriptorsAndVariables() throws Exception {
        String script =
                "export BLACKBOX_DATA=$BLACKBOX_DATA-other; echo word > word; exec 3< word; BLACKBOX_PASSPHRASE_FILE=/dev/fd/3 \"$0\" keys create;"
                        + " grep -l ENCRYPTED \"$BLACKBOX_DATA\"/keys/log-*.ml-dsa-44.key;"
                        + " GIVEN=value \"$0\" record --env GIVEN --env UNSET -- true";
        var ended = user.run(user.command("sh", "-uc", script, user.launcher()), PATIENCE);
        assertTrue(ended.said().contains(".ml-dsa-44.key\n"), ended.said());
        assertTrue(ended.said().contains("the variable UNSET is not set here"), ended.said());
        assertEquals(ExitCodes.BAD_INPUT, ended.exitCode(), ended.said());
    }

    @Test
    void whoIsTracedAlreadyIsNotGuarded() throws Exception {
        Undumpable.refuseTraced("Name:\tjava\nTracerPid:\t0\nUid:\t0\n");
        var traced = assertThrows(IOException.class, () -> Undumpable.refuseTraced("Name:\tjava\nTracerPid:\t17\n"));
        assertTrue(String.valueOf(traced.getMessage()).startsWith("process 17 traces it"), traced::toString);
        assertThrows(IOException.class, () -> Undumpable.refuseTraced("Name:\tjava\n"));
    }

    private static List<String> lines(String how) {
        return ATTEMPTS.stream().map(how::concat).toList();
    }

    private static List<String> tried(String... pids) throws Exception {
        Path classes = Path.of(user.launcher()).resolveSibling("cli/target/test-classes");
        String[] java = {
            System.getProperty("java.home") + "/bin/java",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            classes.toString(),
            SameUser.class.getName()
        };
        var ended = user.run(
                user.command(Stream.concat(Stream.of(java), Stream.of(pids)).toArray(String[]::new)), PATIENCE);
        assertEquals(0, ended.exitCode(), ended.said());
        return ended.said().lines().toList();
    }
}
