package blackbox.node.record;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;

/// An HTTP service on loopback that counts every octet of its connections, headers too: the third witness of a
/// flow, beside guest and host. It answers any request that has a body.
final class CountingService implements AutoCloseable {

    private static final String LENGTH = "content-length:";

    private final ServerSocket listener = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    private final byte[] answer;
    private final AtomicLong received = new AtomicLong();
    private final AtomicLong sent = new AtomicLong();

    CountingService(int answerBytes) throws IOException {
        String body = "a".repeat(answerBytes);
        answer = ("HTTP/1.1 200 OK\r\nContent-Length: " + answerBytes + "\r\nConnection: close\r\n\r\n" + body)
                .getBytes(StandardCharsets.US_ASCII);
        Thread.ofPlatform().daemon().name("counting-service").start(this::serve);
    }

    int port() {
        return listener.getLocalPort();
    }

    long received() {
        return received.get();
    }

    long sent() {
        return sent.get();
    }

    private void serve() {
        while (!listener.isClosed()) {
            try (Socket socket = listener.accept()) {
                request(socket.getInputStream());
                socket.getOutputStream().write(answer);
                sent.addAndGet(answer.length);
            } catch (IOException e) {
                System.err.println("record test: a connection was cut, " + e.getMessage()); // at the end by us
            }
        }
    }

    private void request(InputStream in) throws IOException {
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int octet = in.read();
            if (octet < 0) {
                throw new IOException("the request ended early");
            }
            received.incrementAndGet();
            head.append((char) octet);
        }
        int length = head.toString()
                .lines()
                .filter(line -> line.regionMatches(true, 0, LENGTH, 0, LENGTH.length()))
                .mapToInt(
                        line -> Integer.parseInt(line.substring(LENGTH.length()).strip()))
                .findFirst()
                .orElse(0);
        received.addAndGet(in.readNBytes(length).length);
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
