package blackbox.vm.process;

import blackbox.files.Folders;
import blackbox.schemas.Hash;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.FileFingerprint;
import blackbox.vm.confine.Box;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.GuestImage.ImageRecord;
import blackbox.vm.image.ImageDefinition;
import blackbox.vm.image.ImageLock;
import blackbox.vm.image.ImageLock.LockedPackage;
import blackbox.vm.image.ImageLock.PackageUse;
import blackbox.vm.machine.Accelerator;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.Tier;
import blackbox.vm.process.QemuArguments.BlockLog;
import blackbox.vm.qemu.Qemu;
import blackbox.vm.snapshot.VmSnapshot;
import blackbox.vm.workspace.WorkspaceDisk;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// Starts a program in QEMU's place: in the folder of a machine that is about to be restored, with the files,
/// sockets and limits that QEMU would have. The program tries all that a guest could that has taken QEMU over,
/// and says what came of it.
///
/// A program of its own, because it also runs as another user; its one argument is a new folder for its data.
final class EscapedQemu {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path PYTHON = Path.of("/usr/bin/python3");
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final String SECRET = "a secret";

    private EscapedQemu() {}

    public static void main(String[] arguments) throws Exception {
        Path data = Path.of(arguments[0]).toAbsolutePath();
        Folders.createPrivate(data);
        try (var listener = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
                var socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            Path another = Files.createTempDirectory("bb-").resolve("s");
            socket.bind(UnixDomainSocketAddress.of(another));
            ObjectNode targets = JSON.createObjectNode();
            targets.put("recorder", ProcessHandle.current().pid()).put("port", listener.getLocalPort());
            targets.put("socket", another.toString());
            try (var folder = MachineFolder.create(data)) {
                run(data, folder, targets);
            }
        }
    }

    private static void run(Path data, MachineFolder folder, ObjectNode targets) throws Exception {
        var place = new DataFolder(data);
        var parts = parts(data);
        Path snapshot = Files.createDirectories(place.snapshots().resolve("one"));
        Files.write(snapshot.resolve(VmSnapshot.RAM), new byte[1 << 20]);
        Path state = Files.writeString(snapshot.resolve(VmSnapshot.STATE), "a disk");
        Path captures = Files.createDirectories(data.resolve("captures/this-run"));
        folder.link(QemuArguments.IMAGE, parts.image().folder());
        folder.link(QemuArguments.QEMU, parts.qemu().place());
        folder.link(QemuArguments.SNAPSHOT, snapshot);
        folder.link(QemuArguments.CAPTURE, captures);
        Files.createFile(CaptureName.BLOCKS.in(captures));
        Files.writeString(folder.file(QemuArguments.STATE), "an overlay");
        WorkspaceDisk.create(folder.file(QemuArguments.WORKSPACE_IN));
        WorkspaceDisk.create(folder.file(QemuArguments.WORKSPACE_OUT));

        ObjectNode outside = targets.putObject("outside");
        plant(outside, "the log's key", place.keys().resolve("log.key"));
        plant(outside, "another run's capture", data.resolve("captures/another-run/blocks"));
        plant(outside, "another capture of this run", CaptureName.STDIN.in(captures));
        plant(outside, "another machine's disk", place.machines().resolve("another/state.disk"));
        plant(outside, "the user's home", data.resolveSibling("home/.ssh/id_ed25519"));
        targets.putObject("own")
                .put("image", parts.image().file(GuestImage.KERNEL).toString())
                .put("snapshot-state", state.toString())
                .put("program", parts.qemu().place().toString())
                .put("workspace-in", QemuArguments.WORKSPACE_IN);
        targets.put("data", data.toString()).put("captures", captures.toString());
        List.of("images", "snapshots", "captures", "vm", "cache").forEach(targets.putArray("visible")::add);
        ArrayNode names = targets.putArray("sockets");
        targets.putArray("captured").add(CaptureName.BLOCKS.text());

        MachineSockets.Port.of(Tier.LIVE, Network.NONE).forEach(port -> names.add(port.file()));
        var argv = QemuArguments.restored(parts, Network.NONE, BlockLog.KEPT);
        var start = new QemuStart(parts, Network.NONE, MachineSockets.Port.of(Tier.LIVE, Network.NONE), argv);
        try (var sockets = new MachineSockets(folder.sockets(), start.ports())) {
            Box box = MachineBox.around(folder, start);
            box.installed(PYTHON).installed(PYTHON.toRealPath()).installed(Path.of("/usr/lib/python3.11"));
            List<String> program = List.of(PYTHON.toString(), "-B", "-S", "-c", attempts(), targets.toString());
            Process process = box.start(program, folder.file("said"));
            sockets.accept(process, PATIENCE);
            box.limitThreads(box.inside(process));
            folder.closeSockets();
            process.outputWriter().append('\n').close();
            process.getInputStream().transferTo(System.out);
            int exit = process.waitFor();
            box.end();
            System.out.println(
                    JSON.createObjectNode().put("exit", exit).put("said", Files.readString(folder.file("said"))));
        }
    }

    private static void plant(ObjectNode outside, String name, Path file) throws IOException {
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        outside.put(name, Files.writeString(file, SECRET).toString());
    }

    private static MachineParts parts(Path data) throws Exception {
        Path folder = Files.createDirectories(data.resolve("images/default"));
        Hash any = Hash.sha256(new byte[0]);
        var files = new HashMap<String, FileFingerprint>();
        for (String name : List.of(GuestImage.KERNEL, GuestImage.INITRD, GuestImage.ROOT)) {
            files.put(name, FileFingerprint.of(Files.writeString(folder.resolve(name), name)));
        }
        String hex = any.toString();
        var lock = new ImageLock(1, hex, 1, List.of(new LockedPackage("p", "1", "amd64", hex, 1, PackageUse.ROOT)));
        var record = new ImageRecord(
                1,
                hex,
                "2026-01-01T00:00:00Z",
                ImageDefinition.named("default"),
                lock,
                files,
                Map.of(),
                false,
                List.of(),
                Map.of());
        var image = new GuestImage("default", any, folder, record);
        Qemu qemu = Qemu.find(data);
        var emulated = new Accelerator(Accelerator.Kind.TCG, "no guest is started");
        return new MachineParts(qemu, image, emulated, MachineSize.DEFAULT, Tier.LIVE, 0, qemu.opensRamReadOnly());
    }

    private static String attempts() throws IOException {
        try (InputStream in = EscapedQemu.class.getResourceAsStream("/escape/attempts.py")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        }
    }
}
