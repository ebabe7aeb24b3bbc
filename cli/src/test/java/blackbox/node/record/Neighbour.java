package blackbox.node.record;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/// The second user of the machine, as a program: it tries to learn something of a run that another user records, and
/// to disturb it. It prints a line for each attempt, which begins with `refused` or
/// with `LEARNT`; or with `missing` where there was nothing to try it on.
final class Neighbour {

    private static final int PATIENCE_MS = 30_000;
    private static final String TOPIC = "blackbox.batches";

    /// A request of Kafka's protocol that a broker without authentication answers; one with closes the connection.
    ///
    /// @param key its number, as in Kafka's `ApiKeys`
    private record Request(String name, int key, int version, byte[] body) {}

    private static final List<Request> REQUESTS = List.of(
            // acks -1, for at most 1 s, of no topic
            new Request(
                    "write",
                    0,
                    3,
                    body(b -> b.putShort((short) -1)
                            .putShort((short) -1)
                            .putInt(1_000)
                            .putInt(0))),
            // as a consumer, for at most 100 ms, from one octet to 1,000, of no topic
            new Request(
                    "read",
                    1,
                    4,
                    body(b -> b.putInt(-1)
                            .putInt(100)
                            .putInt(1)
                            .putInt(1_000)
                            .put((byte) 0)
                            .putInt(0))),
            new Request("list topics", 3, 0, body(b -> b.putInt(0))),
            new Request("list groups", 16, 0, body(b -> b)),
            new Request(
                    "delete the topic",
                    20,
                    1,
                    body(b -> b.putInt(1)
                            .putShort((short) TOPIC.length())
                            .put(TOPIC.getBytes(StandardCharsets.US_ASCII))
                            .putInt(1_000))));

    private static final int SASL_HANDSHAKE = 17;

    private Neighbour() {}

    /// Arguments: the data folder, the processes with commas between, the ports of the first of them likewise, and
    /// what nobody else is to know.
    public static void main(String[] args) throws Exception {
        Path data = Path.of(args[0]);
        List<String> processes = List.of(args[1].split(","));
        for (String port : args[2].split(",")) {
            broker(Integer.parseInt(port));
        }
        files(data);
        List<String> secrets = List.of(args).subList(3, args.length);
        for (String pid : processes) {
            process(Path.of("/proc", pid), secrets);
        }
        sockets();
        temporaryFiles(processes.getFirst());
    }

    private static void say(String attempt, Callable<String> attempted) throws Exception {
        try {
            String learnt = attempted.call();
            System.out.println((learnt.isEmpty() ? "refused: " : "LEARNT: ") + attempt + " " + learnt);
        } catch (NoSuchFileException e) {
            System.out.println("missing: " + attempt);
        } catch (FileSystemException | SocketException e) {
            System.out.println("refused: " + attempt + ": " + e.getClass().getSimpleName());
        }
    }

    private static void broker(int port) throws Exception {
        for (Request request : REQUESTS) {
            say(port + " " + request.name(), () -> {
                try (var socket = connect(port)) {
                    send(socket, frame(request));
                    return socket.getInputStream().read() < 0 ? "" : "an answer";
                }
            });
        }
        say(port + " another mechanism", () -> {
            try (var socket = connect(port)) {
                byte[] plain = "\0\5PLAIN".getBytes(StandardCharsets.US_ASCII);
                send(socket, frame(new Request("handshake", SASL_HANDSHAKE, 1, plain)));
                ByteBuffer answer = answer(socket);
                return answer.getShort(Integer.BYTES) == 0 ? "PLAIN is taken" : "";
            }
        });
        say(port + " a message of 2 GiB", () -> {
            try (var socket = connect(port)) {
                socket.getOutputStream().write(new byte[] {0x7f, -1, -1, -1});
                return socket.getInputStream().read() < 0 ? "" : "an answer";
            }
        });
    }

    private static Socket connect(int port) throws IOException {
        var socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(PATIENCE_MS);
        return socket;
    }

    private static byte[] body(UnaryOperator<ByteBuffer> filled) {
        ByteBuffer body = filled.apply(ByteBuffer.allocate(64)).flip();
        return Arrays.copyOf(body.array(), body.limit());
    }

    private static byte[] frame(Request request) {
        byte[] client = "me".getBytes(StandardCharsets.US_ASCII);
        var frame = ByteBuffer.allocate(4 + 8 + 2 + client.length + request.body().length);
        frame.putInt(frame.capacity() - 4)
                .putShort((short) request.key())
                .putShort((short) request.version())
                .putInt(7);
        return frame.putShort((short) client.length)
                .put(client)
                .put(request.body())
                .array();
    }

    private static void send(Socket socket, byte[] octets) throws IOException {
        socket.getOutputStream().write(octets);
    }

    /// An answer: its number and its body.
    private static ByteBuffer answer(Socket socket) throws IOException {
        var in = socket.getInputStream();
        int length = ByteBuffer.wrap(in.readNBytes(4)).getInt();
        return ByteBuffer.wrap(in.readNBytes(length));
    }

    private static void files(Path data) throws Exception {
        say("list " + data, () -> list(data));
        for (String each : List.of("pipeline.properties", "pipeline.lock", "catalog.db", "api-token")) {
            say("read " + each, () -> read(data.resolve(each)));
        }
        for (String each : List.of("keys", "spool", "captures", "vm", "kafka", "runs", "log")) {
            say("list " + each, () -> list(data.resolve(each)));
        }
        say("write to the data folder", () -> {
            Files.writeString(data.resolve("planted"), "x");
            return "written";
        });
    }

    private static String list(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return "has " + all.toList();
        }
    }

    private static String read(Path file) throws IOException {
        return "has " + Files.readAllBytes(file).length + " octets";
    }

    private static void process(Path process, List<String> secrets) throws Exception {
        String name = process.getFileName() + " ";
        say(name + "arguments and names", () -> {
            var seen = new StringBuilder(Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1));
            try (Stream<Path> threads = Files.list(process.resolve("task"))) {
                for (Path thread : threads.toList()) {
                    seen.append('\n').append(comm(thread));
                }
            }
            return secrets.stream().anyMatch(each -> seen.indexOf(each) >= 0) ? "shown in " + seen : "";
        });
        for (String each : List.of("environ", "maps", "auxv", "io", "syscall", "stack")) {
            say(name + each, () -> read(process.resolve(each)));
        }
        for (String each : List.of("fd", "map_files")) {
            say(name + each, () -> list(process.resolve(each)));
        }
        for (String each : List.of("cwd", "root", "exe")) {
            say(name + each, () -> "is " + Files.readSymbolicLink(process.resolve(each)));
        }
        say(name + "memory", () -> {
            Files.newByteChannel(process.resolve("mem"), StandardOpenOption.READ, StandardOpenOption.WRITE)
                    .close();
            return "opened";
        });
        long pid = Long.parseLong(process.getFileName().toString());
        say(name + "end it", () -> {
            ProcessHandle handle = ProcessHandle.of(pid).orElseThrow();
            return handle.destroyForcibly() ? "ended" : "";
        });
    }

    private static String comm(Path thread) {
        try {
            return Files.readString(thread.resolve("comm"));
        } catch (IOException e) {
            return ""; // it has ended
        }
    }

    /// The Unix sockets of Blackbox have names that everybody can read.
    private static void sockets() throws Exception {
        List<String> names = Files.readAllLines(Path.of("/proc/net/unix"), StandardCharsets.ISO_8859_1).stream()
                .map(line -> line.substring(line.lastIndexOf(' ') + 1))
                .filter(each -> each.startsWith("/") && each.contains("/blackbox-"))
                .distinct()
                .toList();
        for (String each : names) {
            say("connect to " + each, () -> {
                try (var socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                    socket.connect(UnixDomainSocketAddress.of(each));
                    return "connected";
                }
            });
        }
    }

    /// What is Blackbox's in the folder that everybody may write to: names are seen, nothing behind them.
    private static void temporaryFiles(String pid) throws Exception {
        Path shared = Path.of(System.getProperty("java.io.tmpdir"));
        Object owner = Files.getAttribute(Path.of("/proc", pid), "unix:uid");
        List<Path> all;
        try (Stream<Path> listed = Files.list(shared)) {
            all = listed.filter(each -> each.getFileName().toString().startsWith("blackbox-"))
                    .toList();
        }
        for (Path each : all) {
            if (Files.exists(each) && owner.equals(Files.getAttribute(each, "unix:uid"))) {
                say("open " + each, () -> Files.isDirectory(each) ? list(each) : read(each));
                say("plant in " + each, () -> {
                    Files.writeString(each.resolve("planted"), "x");
                    return "written";
                });
            }
        }
        say("attach to the JVM", () -> {
            Path attach = shared.resolve(".java_pid" + pid);
            try (var socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                socket.connect(UnixDomainSocketAddress.of(attach));
                return "attached";
            }
        });
    }
}
