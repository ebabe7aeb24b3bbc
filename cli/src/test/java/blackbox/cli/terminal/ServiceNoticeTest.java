package blackbox.cli.terminal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServiceNoticeTest {
    /// Prints a line once it listens, and one for each datagram, until its standard input ends or none comes.
    private static final String MANAGER = """
            import os, socket, sys, threading
            name = sys.argv[1]
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            listening.bind("\\0" + name[1:] if name[0] == "@" else name)
            listening.settimeout(120)
            print("listening", flush=True)
            def tell():
                try:
                    while True:
                        print(listening.recv(4096).decode(), flush=True)
                except TimeoutError:
                    os._exit(1)
            threading.Thread(target=tell, daemon=True).start()
            sys.stdin.read()
            os._exit(0)
            """;

    private static final long PATIENCE_SECONDS = 60;

    @TempDir
    Path folder;

    /// A stand-in for systemd, a process of its own.
    private record Manager(Process process, BufferedReader said) implements AutoCloseable {
        static Manager on(String socket) throws IOException {
            Process process = new ProcessBuilder("python3", "-c", MANAGER, socket)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            var manager = new Manager(process, process.inputReader());
            assertEquals("listening", manager.said().readLine());
            return manager;
        }

        @Override
        public void close() throws IOException {
            process.getOutputStream().close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"path", "abstract"})
    void tellsTheManagerHowTheServiceIs(String kind) throws Exception {
        String socket = kind.equals("path")
                ? folder.resolve("notify").toString()
                : "@blackbox-test-" + ProcessHandle.current().pid();
        try (Manager manager = Manager.on(socket)) {
            var trouble = new ArrayList<String>();
            var told = new ServiceNotice(socket, trouble::add);
            told.ready();
            assertEquals("READY=1", manager.said().readLine());
            told.stopping();
            assertEquals("STOPPING=1", manager.said().readLine());
            assertEquals(List.of(), trouble);
        }
    }

    @Test
    void isSilentWhereNobodyAsked() {
        var trouble = new ArrayList<String>();
        new ServiceNotice(null, trouble::add).ready();
        new ServiceNotice("", trouble::add).ready();
        assertEquals(List.of(), trouble);
    }

    @Test
    void saysWhatItCouldNotTell() {
        var trouble = new ArrayList<String>();
        new ServiceNotice(folder + "/nobody", trouble::add).ready();
        new ServiceNotice("vsock:2:1234", trouble::add).ready();
        new ServiceNotice("/" + "n".repeat(108), trouble::add).ready();
        assertEquals(3, trouble.size(), trouble::toString);
        assertEquals("the service manager was not told READY=1: error 2 at its socket", trouble.getFirst());
        assertTrue(
                trouble.stream().skip(1).allMatch(each -> each.contains("NOTIFY_SOCKET names no socket")),
                trouble::toString);
    }

    /// From the start to the end, with a log of JSON lines alone.
    @Test
    void serveTellsItsManagerAndLogsJson() throws Exception {
        Path data = folder.resolve("data");
        String socket = folder.resolve("notify").toString();
        var builder = new ProcessBuilder(
                Installation.command("serve", "--listen", "127.0.0.1:0", "--log", "json", "--data", data.toString()));
        builder.environment().put("NOTIFY_SOCKET", socket);
        Path log = folder.resolve("log");
        Process serve;
        try (Manager manager = Manager.on(socket)) {
            serve = builder.redirectError(log.toFile()).start();
            try {
                assertEquals("READY=1", manager.said().readLine());
                awaitIngest(serve, log);
                serve.destroy();
                assertEquals("STOPPING=1", manager.said().readLine());
                assertTrue(serve.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS));
            } finally {
                serve.destroyForcibly();
            }
        }
        List<String> lines = Files.readAllLines(log);
        var messages = new ArrayList<String>();
        for (String line : lines) {
            JsonNode event = new ObjectMapper().readTree(line);
            assertEquals("INFO", event.get("level").textValue(), line);
            assertEquals("blackbox", event.get("loggerName").textValue(), line);
            assertTrue(event.get("timestamp").isIntegralNumber(), line);
            messages.add(event.get("formattedMessage").textValue());
        }
        assertEquals(2, messages.size(), lines::toString);
        assertTrue(
                messages.getFirst().matches("listening on http://127.0.0.1:[0-9]+; the token is in .*"),
                messages::toString);
    }

    /// As it ends while it still starts, libraries may say something, too.
    private static void awaitIngest(Process serve, Path log) throws Exception {
        String said = new ObjectMapper()
                .readTree(Files.readAllLines(log).getFirst())
                .get("formattedMessage")
                .textValue();
        var health = URI.create(said.replaceFirst("listening on (\\S+);.*", "$1") + "/health");
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(health).build();
            while (!client.send(request, BodyHandlers.ofString()).body().contains("RUNNING")) {
                assertFalse(serve.waitFor(100, TimeUnit.MILLISECONDS), "serve has ended");
            }
        }
    }
}
