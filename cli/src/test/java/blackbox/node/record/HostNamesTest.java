package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import blackbox.node.record.Installation.Ended;
import java.io.File;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A guest with `--network user` has names resolved by the host's own name server, though the process that asks
/// it
/// sees no other file of the host's.
final class HostNamesTest {
    private static final String SERVER = "127.0.0.93";
    private static final int DNS_PORT = 53;

    @TempDir
    private Path folder;

    @Test
    void theHostsNameServerAnswersTheGuest() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root may listen at port 53");
        Installation blackbox = Installation.in(folder);
        Path settings = Files.writeString(folder.resolve("resolv.conf"), "nameserver " + SERVER + "\n");
        try (var names = new DatagramSocket(DNS_PORT, InetAddress.getByName(SERVER))) {
            Thread.ofPlatform().daemon().start(() -> LoopbackServices.answer(names));
            String script = "mount --bind \"$1\" \"$(readlink -f /etc/resolv.conf)\" && shift && exec \"$@\"";
            var command = new ArrayList<>(List.of("unshare", "--mount", "sh", "-c", script, "sh", settings.toString()));
            command.addAll(Installation.command(
                    "record",
                    "--network",
                    "user",
                    "--",
                    "python3",
                    "-c",
                    "import socket; print(socket.gethostbyname('service.example'))"));

            Ended ended = blackbox.start(new ProcessBuilder(command).redirectInput(new File("/dev/null")))
                    .await()
                    .expect(0);

            assertEquals("10.0.2.2\n", ended.out());
        }
    }
}
