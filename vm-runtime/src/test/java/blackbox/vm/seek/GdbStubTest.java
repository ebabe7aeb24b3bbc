package blackbox.vm.seek;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.seek.GdbStub.Patience;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GdbStubTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @TempDir
    private Path folder;

    private final ConcurrentLinkedQueue<String> heard = new ConcurrentLinkedQueue<>();

    /// The other end: hears packets and says what `answers` makes of them, raw.
    private Path stub(UnaryOperator<String> answers) throws IOException {
        Path socket = folder.resolve("gdb");
        var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(socket));
        Thread.ofPlatform().daemon().start(() -> {
            try (server;
                    var channel = server.accept()) {
                var in = Channels.newInputStream(channel);
                var out = Channels.newOutputStream(channel);
                var packet = new StringBuilder();
                for (int octet = in.read(); octet >= 0; octet = in.read()) {
                    packet.append((char) octet);
                    int start = packet.indexOf("$");
                    int end = packet.indexOf("#");
                    if (start >= 0 && end >= 0 && packet.length() == end + 3) {
                        String command = packet.substring(start + 1, end);
                        heard.add(command);
                        out.write(answers.apply(command).getBytes(StandardCharsets.ISO_8859_1));
                        packet.setLength(0);
                    }
                }
            } catch (IOException e) {
                heard.add("cut"); // the client is gone
            }
        });
        return socket;
    }

    private static String packet(String text) {
        return String.format("+$%s#%02x", text, text.chars().sum() & 0xff);
    }

    private static String usual(String command) {
        return switch (command.charAt(0)) {
            case 'q' -> packet("PacketSize=1000");
            case 'Z', 'z' -> packet("OK");
            case 'c' -> packet("T05thread:01;");
            case 's' -> packet("W00");
            case 'Q' -> packet(""); // QEMU's stub keeps its acknowledgements
            case 'm' -> packet(command.startsWith("m0,") ? "E14" : "42425831");
            default -> packet("0102030405060708".repeat(17) + "11121314".repeat(7));
        };
    }

    @Test
    void breaksRunsAndReads() throws Exception {
        try (var gdb = GdbStub.connect(stub(GdbStubTest::usual), () -> Patience.of(TIMEOUT))) {
            gdb.breakAt(0xffffffff8702c1c0L);
            assertEquals(GdbStub.Stop.STOPPED, gdb.resume());
            assertEquals(GdbStub.Stop.ENDED, gdb.step());
            var registers = gdb.registers();
            assertEquals(0x0807060504030201L, registers.get("rsi"));
            assertEquals(0x14131211L, registers.get("eflags"));
            assertEquals(24, registers.values().size());
            assertArrayEquals("BBX1".getBytes(StandardCharsets.US_ASCII), gdb.memory(0x1000, 4));
            var nothing = assertThrows(VmException.class, () -> gdb.memory(0, 4));
            assertEquals(Code.GUEST_FAILED, nothing.code());
            gdb.unbreak(0xffffffff8702c1c0L);
        }
        List<String> said = new ArrayList<>(heard);
        assertEquals("Z1,ffffffff8702c1c0,1", said.get(1));
        assertEquals("z1,ffffffff8702c1c0,1", said.get(7));
    }

    @Test
    void anAnswerThatWasDamagedIsRefused() throws Exception {
        Path socket = stub(command -> command.equals("g") ? "$0102#00" : usual(command));
        try (var gdb = GdbStub.connect(socket, () -> Patience.of(TIMEOUT))) {
            assertThrows(VmException.class, gdb::registers);
        }
    }

    @Test
    void aMachineThatDoesNotStopIsReported() throws Exception {
        Path socket = stub(command -> command.equals("c") ? "" : usual(command));
        try (var gdb = GdbStub.connect(socket, () -> Patience.of(Duration.ofMillis(300)))) {
            assertEquals(
                    Code.TIMEOUT, assertThrows(VmException.class, gdb::resume).code());
        }
    }
}
