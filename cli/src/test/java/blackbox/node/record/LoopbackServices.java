package blackbox.node.record;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// A name server and a web server on the host's loopback, which a guest on QEMU's user network finds at
/// 10.0.2.2, and a program for the guest that asks both.
public final class LoopbackServices implements AutoCloseable {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    private final ServerSocket web = new ServerSocket(0, 8, LOOPBACK);
    private final DatagramSocket names = new DatagramSocket(0, LOOPBACK);

    private final int webPort = web.getLocalPort();
    private final int namesPort = names.getLocalPort();
    private final List<Thread> threads;

    public LoopbackServices() throws IOException {
        threads = List.of(
                Thread.ofPlatform().daemon().name("web").start(this::serve),
                Thread.ofPlatform().daemon().name("names").start(() -> answer(names)));
    }

    /// Asks for a name's A and AAAA records at once, under random ids, as resolvers do, then for the pages that
    /// the
    /// variable PAGES names; ends with 3 when a page does not come.
    public String client() {
        return """
                import os, socket, sys, urllib.request
                names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                names.settimeout(20)
                ids = [os.urandom(2), os.urandom(2)]
                for id, kind in zip(ids, ['0001', '001c']):
                    question = '01000001000000000000046e616d65076578616d706c6500' + kind + '0001'
                    names.sendto(id + bytes.fromhex(question), ('10.0.2.2', %d))
                answers = [names.recv(512), names.recv(512)]
                assert sorted(answer[:2] for answer in answers) == sorted(ids)
                print(answers[0][-4:])
                for path in os.environ['PAGES'].split(','):
                    try:
                        with urllib.request.urlopen('http://10.0.2.2:%d' + path, timeout=20) as page:
                            body = page.read()
                    except OSError as e:
                        sys.exit(3)
                    print(len(body), body[:40].decode(), flush=True)
                    with open('page' + path.replace('/', '-'), 'wb') as kept:
                        kept.write(body)
                """.formatted(namesPort, webPort);
    }

    private void serve() {
        while (!web.isClosed()) {
            try (Socket socket = web.accept()) {
                var in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
                String path = in.readLine().split(" ", -1)[1];
                while (!in.readLine().isEmpty()) {}
                String body = "served " + path + (path.equals("/large") ? ".".repeat(300_000) : "");
                String head = "HTTP/1.0 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n";
                socket.getOutputStream().write((head + body).getBytes(StandardCharsets.US_ASCII));
            } catch (IOException e) {
                System.err.println("rerun test: the web server: " + e.getMessage()); // at the end by us
            }
        }
    }

    /// Answers every question with 10.0.2.2, until the socket is closed.
    static void answer(DatagramSocket names) {
        var packet = new DatagramPacket(new byte[512], 512);
        while (!names.isClosed()) {
            try {
                names.receive(packet);
                byte[] answer = Arrays.copyOf(packet.getData(), packet.getLength() + 16);
                answer[2] = (byte) 0x81;
                answer[7] = 1;
                byte[] record = {(byte) 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 0, 2, 2};
                System.arraycopy(record, 0, answer, packet.getLength(), record.length);
                names.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
                packet.setLength(512);
            } catch (IOException e) {
                System.err.println("rerun test: the name server: " + e.getMessage()); // at the end by us
            }
        }
    }

    /// Listens where the servers were and counts what arrives.
    public Watched watch() throws IOException {
        return new Watched(new ServerSocket(webPort, 8, LOOPBACK), new DatagramSocket(namesPort, LOOPBACK));
    }

    /// The listeners in the servers' place.
    public static final class Watched implements AutoCloseable {
        private final ServerSocket web;
        private final DatagramSocket names;
        private final AtomicInteger heard = new AtomicInteger();

        Watched(ServerSocket web, DatagramSocket names) {
            this.web = web;
            this.names = names;
            Thread.ofPlatform().daemon().start(() -> count(() -> web.accept().close()));
            Thread.ofPlatform()
                    .daemon()
                    .start(() -> count(() -> names.receive(new DatagramPacket(new byte[512], 512))));
        }

        @FunctionalInterface
        private interface Hears {
            void hear() throws IOException;
        }

        private void count(Hears each) {
            try {
                while (!web.isClosed()) {
                    each.hear();
                    heard.incrementAndGet();
                }
            } catch (IOException e) {
                return; // closed
            }
        }

        public int heard() {
            return heard.get();
        }

        @Override
        public void close() throws IOException {
            names.close();
            web.close();
        }
    }

    @Override
    public void close() throws IOException {
        names.close();
        web.close();
        // A socket is really closed only once the thread that waits on it has ended.
        for (Thread thread : threads) {
            boolean interrupted = false;
            while (thread.isAlive() && !interrupted) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                    Thread.currentThread().interrupt();
                }
            }
        }
    }
}
