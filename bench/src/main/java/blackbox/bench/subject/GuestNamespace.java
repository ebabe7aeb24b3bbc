package blackbox.bench.subject;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A guest without a VM: a network namespace of this machine's kernel, addressed as a guest is, whose only interface
/// leads to what listens at a Unix socket. Between them is QEMU without a machine, which carries frames from a TAP
/// interface to the socket with the same code as in a recording (`-netdev stream`). A user namespace of its own makes
/// root unnecessary, and all of it is gone when that process ends.
public final class GuestNamespace implements AutoCloseable {
    private static final Path TUN = Path.of("/dev/net/tun");
    private static final String READY = "ready";

    /// Run in the namespaces; its arguments are the file that names the name server, and the socket.
    private static final String SETUP = """
            set -e
            mount --bind "$1" /etc/resolv.conf
            ip link set lo up
            ip tuntap add dev guest mode tap
            ip link set guest address 52:54:00:12:34:56 up
            ip addr add 10.0.2.15/24 dev guest
            ip route add default via 10.0.2.2
            echo ready
            exec qemu-system-x86_64 -M none -nodefaults -display none \
                -netdev tap,id=guest,ifname=guest,script=no,downscript=no \
                -netdev "stream,id=peer,server=off,addr.type=unix,addr.path=$2" \
                -netdev hubport,id=port0,hubid=0,netdev=guest -netdev hubport,id=port1,hubid=0,netdev=peer
            """;

    private final Process qemu;

    private GuestNamespace(Process qemu) {
        this.qemu = qemu;
    }

    /// What this machine lacks for it; null if it lacks nothing.
    public static @Nullable String missing() throws IOException, InterruptedException {
        if (!Files.isWritable(TUN)) {
            return TUN + " cannot be written: load the module tun, or give this container the device";
        }
        int code = new ProcessBuilder("unshare", "--user", "--map-root-user", "--net", "--mount", "ip", "link")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
        return code == 0 ? null : "this machine does not let users have namespaces (unshare --user --net --mount)";
    }

    /// Makes one.
    ///
    /// @param folder for its small files
    /// @param socket where its peer listens already
    public static GuestNamespace start(Path folder, Path socket) throws IOException {
        Path names = Files.writeString(folder.resolve("resolv.conf"), "nameserver 10.0.2.3\n");
        Path errors = folder.resolve("namespace.err");
        var command = List.of("unshare", "--user", "--map-root-user", "--net", "--mount", "sh", "-c", SETUP, "sh");
        var words = new ArrayList<>(command);
        words.addAll(List.of(names.toString(), socket.toString()));
        Process process =
                new ProcessBuilder(words).redirectError(errors.toFile()).start();
        String said = process.inputReader(StandardCharsets.UTF_8).readLine();
        if (!READY.equals(said)) {
            process.destroyForcibly();
            throw new IOException("no namespace could be made for a guest: " + Files.readString(errors));
        }
        return new GuestNamespace(process);
    }

    /// A command line that runs a program there.
    public List<String> inside(List<String> program) {
        var words = new ArrayList<>(List.of("nsenter", "--target", String.valueOf(qemu.pid())));
        words.addAll(List.of("--user", "--net", "--mount", "--preserve-credentials", "--"));
        words.addAll(program);
        return words;
    }

    @Override
    public void close() {
        qemu.destroyForcibly();
    }
}
