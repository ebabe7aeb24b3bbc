package blackbox.gateway;

import blackbox.gateway.packet.TcpSegment;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;

/// A guest's connection as a socket of the JDK, so that any client can be put on it. Two threads copy.
final class GuestSocket {
    private GuestSocket() {}

    static Socket of(TestConnection connection) throws IOException {
        try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var client = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
            client.setSoTimeout((int) TestGuest.LIMIT.toMillis());
            Socket inner = server.accept();
            Thread.ofPlatform().daemon().name("guest-out").start(() -> out(inner, connection));
            Thread.ofPlatform().daemon().name("guest-in").start(() -> in(inner, connection));
            return client;
        }
    }

    private static void out(Socket inner, TestConnection connection) {
        var octets = new byte[16 << 10];
        try {
            InputStream in = inner.getInputStream();
            for (int count = in.read(octets); count >= 0; count = in.read(octets)) {
                connection.send(Arrays.copyOf(octets, count));
                if (!connection.awaitTaken()) {
                    if (connection.isBrokenOff()) {
                        inner.setSoLinger(true, 0);
                    }
                    inner.close(); // whoever writes is told
                    return;
                }
            }
            connection.finish();
        } catch (UncheckedIOException _) {
            return; // the link is closed
        } catch (IOException | InterruptedException | AssertionError _) {
            reset(connection);
        }
    }

    private static void reset(TestConnection connection) {
        try {
            connection.say(connection.acknowledged(), TcpSegment.RST, new byte[0]);
        } catch (UncheckedIOException _) {
            return; // the link is closed
        }
    }

    private static void in(Socket inner, TestConnection connection) {
        try {
            int known = 0;
            for (byte[] more = connection.more(known); more != null; more = connection.more(known)) {
                inner.getOutputStream().write(more);
                known += more.length;
            }
            if (connection.isReset()) {
                inner.setSoLinger(true, 0);
                inner.close();
            } else {
                inner.shutdownOutput();
            }
        } catch (UncheckedIOException | IOException | InterruptedException _) {
            return; // the client has closed it, or the link is closed
        }
    }
}
