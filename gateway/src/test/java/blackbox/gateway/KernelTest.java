package blackbox.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.FlowEnd.How;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The gateway beside a TCP that nobody here wrote: Linux's own, in a network namespace whose only interface leads to
/// the
/// gateway. Needs root and `/dev/net/tun`; elsewhere it is skipped and says so.
class KernelTest {
    @TempDir
    Path folder;

    /// Many connections at once, each with random amounts, pauses, and order of ends; what came back is compared.
    private static final String CLIENTS = """
            import hashlib, os, random, socket, sys, threading
            port, seed = int(sys.argv[1]), int(sys.argv[2])
            failed = []
            def one(number):
                rng = random.Random(seed + number)
                data = rng.randbytes(rng.choice([0, 1, 1000, 70000, 1000000]))
                try:
                    s = socket.create_connection(("192.0.2.1", port), timeout=60)
                    def send():
                        at = 0
                        while at < len(data):
                            n = rng.randrange(1, 100000)
                            s.sendall(data[at:at + n])
                            at += n
                        s.shutdown(socket.SHUT_WR)
                    sender = threading.Thread(target=send)
                    sender.start()
                    got = bytearray()
                    while True:
                        part = s.recv(rng.randrange(1, 200000))
                        if not part:
                            break
                        got += part
                    sender.join()
                    if bytes(got) != data:
                        failed.append((number, len(data), len(got)))
                    s.close()
                except Exception as e:
                    failed.append((number, repr(e)))
            threads = [threading.Thread(target=one, args=(i,)) for i in range(100)]
            for t in threads: t.start()
            for t in threads: t.join()
            print("failed", failed)
            """;

    private static final String ERRORS = """
            import errno, socket, sys, time
            port = int(sys.argv[1])
            def error(address, port):
                start = time.time()
                try:
                    socket.create_connection((address, port), timeout=20)
                    return "connected"
                except OSError as e:
                    return errno.errorcode.get(e.errno, repr(e)) + ("" if time.time() - start < 5 else " late")
            print(error("192.0.2.99", 80), error("192.0.2.1", 1), socket.gethostbyname("ok.example")[:6])
            try:
                socket.gethostbyname("evil.example")
            except socket.gaierror as e:
                print(e.errno == socket.EAI_NONAME)
            u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            u.settimeout(5)
            u.connect(("192.0.2.99", 1234))
            u.send(b"x")
            try:
                u.recv(10)
            except OSError as e:
                print(errno.errorcode.get(e.errno, repr(e)))
            """;

    private static final String BULK = """
            import socket, sys, time
            port, total = int(sys.argv[1]), int(sys.argv[2])
            s = socket.create_connection(("192.0.2.1", port), timeout=60)
            start = time.time()
            left = total
            block = bytes(1 << 20)
            if sys.argv[3] == "up":
                while left > 0:
                    s.sendall(block)
                    left -= len(block)
                s.shutdown(socket.SHUT_WR)
                s.recv(1)
            else:
                s.shutdown(socket.SHUT_WR)
                while True:
                    n = len(s.recv(1 << 20))
                    if n == 0: break
                    left -= n
            print("%s %d MB/s, left %d" % (sys.argv[3], total / (time.time() - start) / 1e6, max(left, 0)))
            """;

    private static String python(KernelGuest kernel, Path folder, String script, Object... arguments)
            throws IOException, InterruptedException {
        Path file = Files.writeString(folder.resolve("script.py"), script);
        Path out = folder.resolve("out");
        List<String> words = new ArrayList<>(kernel.inside("python3", file.toString()));
        List.of(arguments).forEach(each -> words.add(each.toString()));
        Process process = new ProcessBuilder(words)
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
        if (!process.waitFor(120, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        return Files.readString(out, StandardCharsets.UTF_8).strip();
    }

    private static void echo(Socket socket) {
        try (socket) {
            socket.getInputStream().transferTo(socket.getOutputStream());
        } catch (IOException _) {
            return; // the client finds out what is missing
        }
    }

    private static void serve(ServerSocket server, Consumer<Socket> service) {
        Thread.startVirtualThread(() -> {
            try {
                for (; ; ) {
                    Socket socket = server.accept();
                    Thread.startVirtualThread(() -> service.accept(socket));
                }
            } catch (IOException _) {
                return; // closed
            }
        });
    }

    private KernelGuest kernel() throws IOException, InterruptedException {
        String missing = KernelGuest.missing();
        assumeTrue(missing == null, () -> "the kernel's TCP cannot be used here: " + missing);
        return KernelGuest.start(folder);
    }

    @Test
    void theKernelsTcpGetsWhatItSent() throws Exception {
        try (KernelGuest kernel = kernel();
                var server = new ServerSocket(0, 1_024, InetAddress.getLoopbackAddress())) {
            serve(server, KernelTest::echo);
            var listener = new TestListener();
            try (var gateway = Gateway.start(
                    kernel.gatewayEnd(), GatewaySettings.DEFAULT, new Served.Rules(server.getLocalPort()), listener)) {
                for (String mtu : List.of("1500", "576", "65520")) {
                    kernel.mtu(mtu);
                    assertEquals(
                            "failed []",
                            python(kernel, folder, CLIENTS, server.getLocalPort(), System.nanoTime() & 0xffffff),
                            "with an MTU of " + mtu);
                }
                listener.await("not all have ended", all -> all.ends().size() == 300);
                assertTrue(listener.ends().stream().map(FlowEnd::how).allMatch(How.FINISHED::equals));
                String open = python(
                        kernel, folder, "import subprocess; print(open('/proc/net/tcp').read().count('\\n') - 1)");
                assertTrue(Integer.parseInt(open) <= 300, "only connections in TIME_WAIT are left");
            }
        }
    }

    @Test
    void theKernelIsToldWhy() throws Exception {
        try (KernelGuest kernel = kernel();
                var server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            int port = server.getLocalPort();
            server.close();
            try (var gateway = Gateway.start(
                    kernel.gatewayEnd(), GatewaySettings.DEFAULT, new Served.Rules(port), new TestListener())) {
                assertEquals(
                        "ECONNREFUSED ECONNREFUSED 198.18\nTrue\nEHOSTUNREACH",
                        python(kernel, folder, ERRORS, port).replace("198.19", "198.18"));
            }
        }
    }

    /// Says how fast it is. Only that it all arrives is asserted: the machine may do other things.
    @Test
    void inBulk() throws Exception {
        try (KernelGuest kernel = kernel();
                var server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            int total = 256 << 20;
            serve(server, socket -> bulk(socket, total));
            try (var gateway = Gateway.start(
                    kernel.gatewayEnd(),
                    GatewaySettings.DEFAULT,
                    new Served.Rules(server.getLocalPort()),
                    new TestListener())) {
                for (String mtu : List.of("1500", "65520")) {
                    kernel.mtu(mtu);
                    for (String way : List.of("up", "down")) {
                        String said = python(kernel, folder, BULK, server.getLocalPort(), total, way);
                        System.out.println("MTU " + mtu + ": " + said);
                        assertTrue(said.endsWith("left 0"), said);
                    }
                }
            }
        }
    }

    /// Takes what comes; if that was nothing, the client wants as much as `total`.
    private static void bulk(Socket socket, int total) {
        try (socket) {
            InputStream in = socket.getInputStream();
            var block = new byte[1 << 20];
            int first = in.read(block);
            if (first < 0) {
                for (int left = total; left > 0; left -= block.length) {
                    socket.getOutputStream().write(block);
                }
            } else {
                in.transferTo(OutputStream.nullOutputStream());
            }
        } catch (IOException _) {
            return; // the client finds out what is missing
        }
    }
}
