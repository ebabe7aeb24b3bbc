package blackbox.vm.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.machine.GuestMessage.HostFailure;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A guest that says on its control port what it should not, without a guest.
@Timeout(60)
class GuestControlTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final String PONG = "{\"type\":\"pong\",\"id\":1}\n";

    @TempDir
    Path folder;

    private SocketChannel guest;
    private GuestControl control;

    @BeforeEach
    void connect() throws Exception {
        var address = UnixDomainSocketAddress.of(folder.resolve("control"));
        try (var listener =
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(address)) {
            guest = SocketChannel.open(address);
            control = new GuestControl(listener.accept());
        }
    }

    @AfterEach
    void close() throws Exception {
        guest.close();
    }

    private void say(String text) throws Exception {
        ByteBuffer octets = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        while (octets.hasRemaining()) {
            guest.write(octets);
        }
    }

    private VmException failure() {
        return assertThrows(VmException.class, () -> control.awaitExit(PATIENCE));
    }

    /// The failure is waited for twice: by whoever runs the agent, and by whoever ends the machine then.
    @Test
    void aFloodOfMessagesHidesNoFailureOfTheHost() throws Exception {
        Thread flood = Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    say(PONG.repeat(100));
                }
            } catch (Exception _) {
                return; // the test has closed the connection
            }
        });
        for (int round = 0; round < 50; round++) {
            control.fail(new HostFailure(Code.DISK_FULL, "full"));
            assertEquals(Code.DISK_FULL, failure().code());
        }
        assertEquals(Code.DISK_FULL, failure().code());
        guest.close();
        flood.join();
    }

    @Test
    void aLineWithoutEndBreaksTheProtocolAndIsSaidToHave() throws Exception {
        Thread flood = Thread.ofPlatform().daemon().start(() -> {
            try {
                say("x".repeat(2 << 20));
            } catch (Exception _) {
                return; // nobody reads on
            }
        });
        String said = String.valueOf(failure().getMessage());
        assertTrue(said.endsWith("it broke the control protocol"), said);
        guest.close();
        flood.join();
    }
}
