package blackbox.bench.subject;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/// QEMU's own user network in a process without a machine, and a guest behind it: the same way as to the gateway, with
/// a forwarder at its end that opens nothing. What it costs is what the way costs, and a plain forwarder.
public final class Slirp implements AutoCloseable {
    private static final Duration START_MAX = Duration.ofSeconds(10);

    /// This host's loopback addresses, to a guest.
    public static final String HOST = "10.0.2.2";

    private final Process process;
    private final GuestNamespace guest;

    private Slirp(Process process, GuestNamespace guest) {
        this.process = process;
        this.guest = guest;
    }

    public static Slirp start(Path folder) throws IOException, InterruptedException {
        Path socket = folder.resolve("network");
        Path errors = folder.resolve("slirp.err");
        Process process = new ProcessBuilder(
                        "qemu-system-x86_64",
                        "-M",
                        "none",
                        "-nodefaults",
                        "-display",
                        "none",
                        "-netdev",
                        "user,id=user",
                        "-netdev",
                        "stream,id=peer,server=on,addr.type=unix,addr.path=" + socket,
                        "-netdev",
                        "hubport,id=port0,hubid=0,netdev=user",
                        "-netdev",
                        "hubport,id=port1,hubid=0,netdev=peer")
                .redirectError(errors.toFile())
                .start();
        long end = System.nanoTime() + START_MAX.toNanos();
        while (!Files.exists(socket)) {
            if (!process.isAlive() || System.nanoTime() > end) {
                process.destroyForcibly();
                throw new IOException("QEMU does not start: " + Files.readString(errors));
            }
            process.waitFor(Duration.ofMillis(20));
        }
        return new Slirp(process, GuestNamespace.start(folder, socket));
    }

    public GuestNamespace guest() {
        return guest;
    }

    public ProcessCost cost() throws IOException {
        return ProcessCost.of(process);
    }

    @Override
    public void close() {
        guest.close();
        process.destroyForcibly();
    }
}
