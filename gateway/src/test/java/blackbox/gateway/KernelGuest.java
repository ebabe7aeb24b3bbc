package blackbox.gateway;

import com.sun.jna.Library;
import com.sun.jna.Native;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A network namespace of this machine's kernel, with a TAP interface whose frames go to a gateway: the guest of
/// [KernelTest], and of the tests of other modules.
public final class KernelGuest implements AutoCloseable {
    private static final Path TUN = Path.of("/dev/net/tun");
    private static final int O_RDWR = 2;
    private static final long TUNSETIFF = 0x400454caL;
    private static final short IFF_TAP_NO_PI = 0x1002;
    private static final int IFREQ_BYTES = 40;
    private static final int FRAME_BYTES_MAX = 70_000;

    private final String namespace = "bbgw" + ProcessHandle.current().pid();
    private final String interfaceName = namespace.substring(0, Math.min(15, namespace.length()));
    private final Path names;
    private final SocketChannel guestEnd;
    private final SocketChannel gatewayEnd;
    private int tap = -1;

    /// What of the C library is needed.
    interface C extends Library {
        int open(String path, int flags);

        int ioctl(int descriptor, long request, byte[] argument);

        long read(int descriptor, byte[] octets, long count);

        long write(int descriptor, byte[] octets, long count);

        int close(int descriptor);
    }

    private static final class Lazily {
        static final C LIBRARY = Native.load("c", C.class);
    }

    /// What this machine lacks for it, or null.
    public static @Nullable String missing() throws IOException, InterruptedException {
        if (!Files.isWritable(TUN) || !"root".equals(System.getProperty("user.name"))) {
            return "it takes root and " + TUN;
        }
        String name = "bbgw-try" + ProcessHandle.current().pid();
        if (!succeeds("ip", "netns", "add", name)) {
            return "`ip netns add` fails";
        }
        succeeds("ip", "netns", "del", name);
        return succeeds("python3", "--version") ? null : "there is no python3";
    }

    private KernelGuest(Path names, SocketChannel guestEnd, SocketChannel gatewayEnd) {
        this.names = names;
        this.guestEnd = guestEnd;
        this.gatewayEnd = gatewayEnd;
    }

    public static KernelGuest start(Path folder) throws IOException, InterruptedException {
        var address = UnixDomainSocketAddress.of(folder.resolve("kernel"));
        try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(address);
            SocketChannel guest = SocketChannel.open(address);
            var kernel = new KernelGuest(folder.resolve("resolv.conf"), guest, server.accept());
            kernel.connect();
            return kernel;
        }
    }

    private void connect() throws IOException, InterruptedException {
        Files.writeString(names, "nameserver 10.0.2.3\n");
        tap = Lazily.LIBRARY.open(TUN.toString(), O_RDWR);
        var request = new byte[IFREQ_BYTES];
        byte[] name = interfaceName.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(name, 0, request, 0, name.length);
        request[16] = IFF_TAP_NO_PI & 0xff;
        request[17] = (byte) (IFF_TAP_NO_PI >> 8);
        if (tap < 0 || Lazily.LIBRARY.ioctl(tap, TUNSETIFF, request) < 0) {
            throw new IOException("no TAP interface could be made");
        }
        run("ip", "netns", "add", namespace);
        run("ip", "link", "set", interfaceName, "netns", namespace);
        for (String words : List.of(
                "link set lo up",
                "link set " + interfaceName + " address 52:54:00:12:34:56",
                "addr add 10.0.2.15/24 dev " + interfaceName,
                "link set " + interfaceName + " up",
                "route add default via 10.0.2.2")) {
            var command = new ArrayList<>(List.of("ip", "-n", namespace));
            command.addAll(List.of(words.split(" ")));
            run(command.toArray(String[]::new));
        }
        Thread.ofPlatform().daemon().name("tap-out").start(this::fromKernel);
        Thread.ofPlatform().daemon().name("tap-in").start(this::toKernel);
    }

    /// The gateway's end of its link.
    public SocketChannel gatewayEnd() {
        return gatewayEnd;
    }

    void mtu(String octets) throws IOException, InterruptedException {
        run("ip", "-n", namespace, "link", "set", interfaceName, "mtu", octets);
    }

    /// A command line that runs a program in the namespace, with the gateway as its name server.
    public List<String> inside(String... program) {
        var words = new ArrayList<>(List.of("ip", "netns", "exec", namespace, "unshare", "-m", "sh", "-c"));
        words.add("mount --bind " + names + " /etc/resolv.conf && exec \"$@\"");
        words.add("sh");
        words.addAll(List.of(program));
        return words;
    }

    private void fromKernel() {
        var frame = new byte[FRAME_BYTES_MAX];
        try {
            for (int length = read(frame); length > 0; length = read(frame)) {
                ByteBuffer out = ByteBuffer.allocate(4 + length);
                out.putInt(length).put(frame, 0, length).flip();
                while (out.hasRemaining()) {
                    guestEnd.write(out);
                }
            }
        } catch (IOException _) {
            return; // closed
        }
    }

    private int read(byte[] frame) {
        return (int) Lazily.LIBRARY.read(tap, frame, frame.length);
    }

    private void toKernel() {
        try {
            var frames = new DataInputStream(new BufferedInputStream(Channels.newInputStream(guestEnd), 1 << 20));
            for (; ; ) {
                var frame = new byte[frames.readInt()];
                frames.readFully(frame);
                if (Lazily.LIBRARY.write(tap, frame, frame.length) < 0) {
                    return; // the interface is gone
                }
            }
        } catch (IOException _) {
            return; // closed
        }
    }

    private static boolean succeeds(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
    }

    private static void run(String... command) throws IOException, InterruptedException {
        if (!succeeds(command)) {
            throw new IOException("failed: " + String.join(" ", command));
        }
    }

    @Override
    public void close() throws IOException {
        guestEnd.close();
        try {
            succeeds("ip", "-n", namespace, "link", "del", interfaceName);
            succeeds("ip", "netns", "del", namespace);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        Lazily.LIBRARY.close(tap);
    }
}
