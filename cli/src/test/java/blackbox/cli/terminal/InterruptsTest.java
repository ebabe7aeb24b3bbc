package blackbox.cli.terminal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What signals do to a process that has something to bring to an end.
@Timeout(60)
final class InterruptsTest {

    private static final List<String> DEFAULT = List.of("env", "--default-signal=INT,TERM,HUP");

    private record Victim(Process process, BufferedReader said) implements AutoCloseable {

        static Victim start(List<String> through) throws IOException {
            var command = new ArrayList<>(through);
            command.addAll(List.of(
                    ProcessHandle.current().info().command().orElseThrow(),
                    "-cp",
                    System.getProperty("java.class.path"),
                    Interrupted.class.getName()));
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            var said = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            var victim = new Victim(process, said);
            assertEquals("ready", said.readLine());
            return victim;
        }

        void signal(String name) throws Exception {
            Process kill = new ProcessBuilder("sh", "-c", "kill -" + name + " " + process.pid()).start();
            assertEquals(0, kill.waitFor());
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    @Test
    void aClosedTerminalIsAnInterruptAndSaysItTwice() throws Exception {
        try (Victim victim = Victim.start(DEFAULT)) {
            victim.signal("HUP");
            assertEquals("first 1", victim.said.readLine());
            victim.signal("HUP");
            victim.signal("HUP");
            victim.signal("TERM");
            assertEquals("last", victim.said.readLine(), "only that one is the second");
            assertEquals(128 + 15, victim.process.waitFor());
        }
    }

    @Test
    void aServiceManagerSendsOneAfterTheOther() throws Exception {
        try (Victim victim = Victim.start(DEFAULT)) {
            victim.signal("TERM");
            assertEquals("first 15", victim.said.readLine());
            victim.signal("HUP");
            victim.signal("INT");
            assertEquals("last", victim.said.readLine());
            assertEquals(128 + 2, victim.process.waitFor());
        }
    }

    /// As under nohup(1).
    @Test
    void whatWasIgnoredAtTheStartStaysIgnored() throws Exception {
        try (Victim victim = Victim.start(List.of("env", "--default-signal=TERM", "--ignore-signal=HUP"))) {
            victim.signal("HUP");
            victim.signal("TERM");
            assertEquals("first 15", victim.said.readLine());
        }
    }

    /// Has something to bring to an end, and never does.
    static final class Interrupted {
        private Interrupted() {}

        public static void main(String[] arguments) throws Exception {
            try (Interrupts interrupts = Interrupts.handledBy(
                    number -> System.out.println("first " + number), () -> System.out.println("last"))) {
                System.out.println("ready");
                new CountDownLatch(1).await();
            }
        }
    }
}
