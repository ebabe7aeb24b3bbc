package blackbox.replay.cassette;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PeerLinkTest {
    @TempDir
    Path folder;

    /// An IPv4 packet of a protocol that is not served.
    private static ByteBuffer unserved() {
        ByteBuffer frame = ByteBuffer.allocate(4 + 34);
        frame.putInt(34)
                .put(new byte[12])
                .putShort((short) 0x0800)
                .put((byte) 0x45)
                .put((byte) 0);
        frame.putShort((short) 20).putInt(0).put((byte) 64).put((byte) 99).putShort((short) 0);
        return frame.putInt(0x0a00020f).putInt(0x0a000202).flip();
    }

    /// Whatever it is, the replay must not go on without its network and be judged as if it had had one.
    @Test
    void aFaultThatNothingForesawFailsThePlaying() throws Exception {
        var address = UnixDomainSocketAddress.of(folder.resolve("network"));
        try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(address);
            try (SocketChannel guest = SocketChannel.open(address);
                    var link = new PeerLink(
                            server.accept(), Cassette.read(new TestCapture(), new TestCapture()), null, miss -> {
                                throw new IllegalStateException("planted");
                            })) {
                guest.write(unserved());
                var failure = assertThrows(IOException.class, link::awaitEnd);
                assertEquals("the recorded network could not be played to the end: planted", failure.getMessage());
            }
        }
    }
}
