package blackbox.vm.qmp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
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
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class QmpClientTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    /// A machine ends with its last words still in the socket, and the thread that reads them is late, as on a busy
    /// host.
    @Test
    void whatQemuSentLastIsDeliveredBeforeTheConnectionIsClosed() throws Exception {
        var delivered = new CopyOnWriteArrayList<String>();
        var late = new CountDownLatch(1);
        var address = UnixDomainSocketAddress.of(folder.resolve("qmp"));
        try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(address)) {
            Thread qemu = Thread.ofPlatform().daemon().start(() -> endAfterItsEvents(server));
            try (var client = QmpClient.over(
                    SocketChannel.open(address),
                    event -> {
                        awaitUninterrupted(late);
                        delivered.add(event.name());
                    },
                    PATIENCE)) {
                qemu.join();
                assertFalse(client.awaitLast(Duration.ofMillis(1)), "the listener has not taken them yet");
                late.countDown();
                assertTrue(client.awaitLast(PATIENCE));
            }
        }
        assertEquals(List.of("RESET", "SHUTDOWN"), delivered);
    }

    private static void endAfterItsEvents(ServerSocketChannel server) {
        try (SocketChannel monitor = server.accept();
                var lines = new BufferedReader(Channels.newReader(monitor, StandardCharsets.UTF_8))) {
            say(monitor, "{\"QMP\": {}}");
            assertTrue(lines.readLine().contains("qmp_capabilities"));
            say(monitor, "{\"return\": {}, \"id\": 1}");
            say(monitor, "{\"event\": \"RESET\"}");
            say(monitor, "{\"event\": \"SHUTDOWN\", \"data\": {\"guest\": true}}");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void say(SocketChannel monitor, String line) throws IOException {
        monitor.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8)));
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
