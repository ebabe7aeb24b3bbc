package blackbox.vm.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.VmException;
import blackbox.vm.guest.HoldGate;
import blackbox.vm.machine.MachineBrake.State;
import blackbox.vm.qmp.QmpClient;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A hypervisor that its guest has taken over, and that says what it likes; another program stands in for its process.
@Timeout(60)
class QemuBrakeTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    private final List<String> commands = new CopyOnWriteArrayList<>();
    /// What it does not answer.
    private volatile String ignored = "";
    private volatile String status = "running";
    private Process process;
    private ServerSocketChannel server;
    private QmpClient qmp;
    private QemuBrake brake;

    @BeforeEach
    void start() throws Exception {
        process = new ProcessBuilder("sleep", "1000").start();
        var address = UnixDomainSocketAddress.of(folder.resolve("qmp"));
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(address);
        Thread.ofPlatform().daemon().start(this::answer);
        qmp = QmpClient.over(SocketChannel.open(address), _ -> {}, PATIENCE);
        brake = new QemuBrake(qmp, process.toHandle(), null, new HoldGate());
    }

    @AfterEach
    void end() throws Exception {
        process.destroyForcibly().waitFor();
        qmp.close();
        server.close();
    }

    @Test
    void oneThatDoesNotStopItsGuestIsStoppedByTheKernel() throws Exception {
        ignored = "stop";
        long from = System.nanoTime();
        assertEquals(
                VmException.Code.TIMEOUT,
                assertThrows(VmException.class, brake::stop).code());
        brake.hold();
        assertTrue(System.nanoTime() - from < 1_000_000_000L, "within a second");
        assertEquals(State.HELD, brake.look(), "by the kernel's word; it is asked nothing");
        assertFalse(commands.contains("query-status"));
    }

    @Test
    void oneThatSaysThatItsGuestStandsStillIsStoppedAllTheSame() throws Exception {
        brake.stop();
        status = "running";
        assertEquals(State.RUNNING, brake.look(), "it said that it stopped it");
        brake.hold();
        assertEquals(State.HELD, brake.look());
        new ProcessBuilder("kill", "-CONT", Long.toString(process.pid()))
                .start()
                .waitFor();
        String said = assertThrows(VmException.class, brake::look).getMessage();
        assertTrue(said.contains("did not say that QEMU is stopped"), said);
        brake.hold();
        assertEquals(State.HELD, brake.look(), "it was stopped again");
    }

    @Test
    void oneThatIsLetGoHasDoneWhatItWasAskedBefore() throws Exception {
        brake.stop();
        brake.hold();
        brake.release();
        assertEquals(List.of("qmp_capabilities", "stop", "cont"), commands);
        assertEquals(State.RUNNING, brake.look());
    }

    @Test
    void aStateThatIsNoneIsNotTakenForOne() {
        status = "io-error";
        String said = assertThrows(VmException.class, brake::look).getMessage();
        assertTrue(said.contains("another state"), said);
    }

    @Test
    void oneThatHasEndedCannotBeHeld() throws Exception {
        process.destroyForcibly().waitFor();
        assertThrows(VmException.class, brake::hold);
        assertThrows(VmException.class, brake::look);
    }

    private void answer() {
        try (SocketChannel monitor = server.accept();
                var lines = new BufferedReader(Channels.newReader(monitor, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonNode asked = JSON.readTree(line);
                String command = asked.path("execute").asText();
                commands.add(command);
                if (!command.equals(ignored)) {
                    String answer = "{\"return\": {\"status\": \"" + status + "\"}, \"id\": "
                            + asked.path("id").asLong() + "}\n";
                    monitor.write(ByteBuffer.wrap(answer.getBytes(StandardCharsets.UTF_8)));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
