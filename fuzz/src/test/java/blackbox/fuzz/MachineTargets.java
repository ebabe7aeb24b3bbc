package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.vm.VmException;
import blackbox.vm.machine.GuestMessage;
import blackbox.vm.qmp.QmpClient;
import blackbox.vm.qmp.QmpEvent;
import blackbox.vm.seek.ReplayEvents;
import blackbox.vm.seek.ResumePoint;
import blackbox.vm.seek.VmStateFile;
import blackbox.vm.workspace.TarFilter;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// What the guest's first process says, the archive of its workspace, and what QEMU says and writes.
final class MachineTargets {
    private static final int BLOCK = 512;
    /// So low that inputs reach them.
    private static final TarFilter.Limits WORKSPACE = new TarFilter.Limits(20, 2 << 10, 1 << 10);
    private static final int CLUSTER = 512;

    private MachineTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of(
                        "control",
                        4 << 10,
                        MachineTargets::control,
                        MachineTargets::messages,
                        JsonProcessingException.class,
                        IllegalArgumentException.class),
                FuzzTarget.of("qmp", 4 << 10, MachineTargets::qmp, MachineTargets::answers, VmException.class),
                FuzzTarget.of(
                        "workspace",
                        16 << 10,
                        MachineTargets::workspace,
                        MachineTargets::archives,
                        VmException.class,
                        IOException.class),
                FuzzTarget.of(
                        "replay-log", 8 << 10, MachineTargets::replayLog, MachineTargets::logs, VmException.class),
                FuzzTarget.of("vm-state", 8 << 10, MachineTargets::state, MachineTargets::states, VmException.class));
    }

    /// One line.
    private static boolean control(byte[] line) throws IOException {
        GuestMessage message = GuestMessage.parse(new String(line, StandardCharsets.UTF_8));
        switch (message) {
            case GuestMessage.Ready ready ->
                ensure(ready.bootId().length() <= 64 && ready.kernel().length() <= 128, "a name is too long");
            case GuestMessage.Failure failure -> printable(failure.what());
            case GuestMessage.Uncollected(String what) -> printable(what);
            case GuestMessage.Exit exit ->
                ensure(exit.limits().values().stream().allMatch(count -> count > 0), "a limit was reached no time");
            default -> {}
        }
        return true;
    }

    private static void printable(String text) {
        ensure(text.length() <= 2_000, "a text of " + text.length());
        ensure(text.chars().noneMatch(c -> c < ' ' || c == 0x7f), "a control character is left");
    }

    private static Map<String, byte[]> messages() {
        return Map.of(
                "ready", utf8("{\"type\":\"ready\",\"bootId\":\"b\",\"kernel\":\"6.12\",\"ktimeNs\":5,\"tracer\":{}}"),
                "started", utf8("{\"type\":\"started\",\"pid\":4,\"cgroupId\":3,\"ktimeNs\":5,\"wallNs\":6}"),
                "exit", utf8("{\"type\":\"exit\",\"code\":1,\"signal\":null,\"limits\":{\"memory\":2,\"pids\":1}}"),
                "clock", utf8("{\"type\":\"clock\",\"id\":1,\"ktimeNs\":5,\"wallNs\":6,\"forwardNs\":7}"),
                "tracer-ended", utf8("{\"type\":\"tracerEnded\",\"status\":-9,\"ktimeNs\":5,\"frozenKtimeNs\":-1}"),
                "collected", utf8("{\"type\":\"collected\",\"bytes\":512}"),
                "error", utf8("{\"type\":\"error\",\"what\":\"no space left\\n\"}"));
    }

    /// All that QEMU sends over its monitor.
    private static boolean qmp(byte[] octets) throws Exception {
        Path folder = Files.createTempDirectory("qmp");
        Path socket = folder.resolve("s");
        var events = new ArrayList<QmpEvent>();
        try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            try (SocketChannel ours = SocketChannel.open(UnixDomainSocketAddress.of(socket));
                    SocketChannel theirs = server.accept()) {
                for (ByteBuffer left = ByteBuffer.wrap(octets); left.hasRemaining(); ) {
                    theirs.write(left);
                }
                theirs.shutdownOutput();
                try (QmpClient client = QmpClient.over(ours, events::add, Duration.ofSeconds(4))) {
                    ensure(client.awaitLast(Duration.ofSeconds(4)), "the reader does not end");
                }
                return true;
            }
        } finally {
            Files.deleteIfExists(socket);
            Files.delete(folder);
        }
    }

    private static Map<String, byte[]> answers() {
        return Map.of(
                "greeting-and-event",
                utf8("{\"QMP\":{\"version\":{}}}\n{\"event\":\"STOP\",\"data\":{},\"timestamp\":"
                        + "{\"seconds\":1,\"microseconds\":2}}\n{\"return\":{},\"id\":1}\n"));
    }

    /// What comes out is an archive that the same rules accept and leave as it is.
    private static boolean workspace(byte[] archive) throws IOException, VmException {
        byte[] once = filtered(archive);
        try {
            byte[] twice = filtered(once);
            ensure(Arrays.equals(once, twice), "filtering again changes the archive");
        } catch (VmException e) {
            throw new AssertionError("what was written is refused", e);
        }
        return true;
    }

    private static byte[] filtered(byte[] archive) throws IOException, VmException {
        var filter = new TarFilter(WORKSPACE);
        var out = new ByteArrayOutputStream();
        filter.copy(new ByteArrayInputStream(archive), out);
        ensure(filter.entries() <= WORKSPACE.entriesMax(), "more entries than are allowed");
        // Content, and for each entry two headers and an extended one with its names.
        long bytesMax = WORKSPACE.contentBytesMax()
                + 2 * WORKSPACE.namesBytesMax()
                + (filter.entries() + 1) * 4 * BLOCK
                + 10 * BLOCK;
        ensure(out.size() <= bytesMax && out.size() % BLOCK == 0, "an archive of " + out.size() + " octets");
        return out.toByteArray();
    }

    private static Map<String, byte[]> archives() throws Exception {
        Path folder = Files.createTempDirectory("workspace");
        try {
            Files.createDirectories(folder.resolve("d/sub"));
            Files.writeString(folder.resolve("d/file"), "content");
            Files.createLink(folder.resolve("d/hard"), folder.resolve("d/file"));
            Files.createSymbolicLink(folder.resolve("d/soft"), Path.of("../elsewhere"));
            Files.writeString(folder.resolve("d/" + "n".repeat(200)), "long name");
            Process tar = new ProcessBuilder("tar", "--format=posix", "--sort=name", "-C", folder.toString(), "-c", "d")
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            byte[] archive = tar.getInputStream().readAllBytes();
            ensure(tar.waitFor() == 0, "tar failed");
            // Without the zeros that fill the last record.
            int end = archive.length;
            while (end > BLOCK && isZero(archive, end - BLOCK)) {
                end -= BLOCK;
            }
            return Map.of("tar", Arrays.copyOf(archive, end + 2 * BLOCK), "empty", new byte[2 * BLOCK]);
        } finally {
            Scratch.delete(folder);
        }
    }

    private static boolean isZero(byte[] octets, int from) {
        for (int i = from; i < from + BLOCK; i++) {
            if (octets[i] != 0) {
                return false;
            }
        }
        return true;
    }

    private static boolean replayLog(byte[] log) throws IOException, VmException {
        long last = 0;
        long events = 0;
        try (var reader = ReplayEvents.withoutHeader(new ByteArrayInputStream(log))) {
            while (reader.next()) {
                ensure(reader.at() == last && reader.end() > last && reader.end() <= log.length, "events overlap");
                ensure(reader.instructions() >= 0, "a negative number of instructions");
                last = reader.end();
                events++;
            }
        }
        return events > 0;
    }

    private static Map<String, byte[]> logs() {
        ByteBuffer all = ByteBuffer.allocate(256);
        all.put((byte) ReplayEvents.INSTRUCTIONS).putInt(1_000);
        all.put((byte) ReplayEvents.HOST_CLOCK).putInt(1).putInt(2);
        all.put((byte) ReplayEvents.BLOCK).putLong(1);
        all.put((byte) 7).put((byte) 0).putInt(3).put(utf8("abc"));
        all.put((byte) 9).put((byte) 0).putInt(0).putInt(2).put(utf8("fr"));
        all.put((byte) 22).putInt(1).putInt(1);
        all.put((byte) 23).putInt(1).put((byte) 1);
        all.put((byte) 27).putInt(0).putInt(2).put(utf8("rr"));
        all.put((byte) ReplayEvents.CLOCK_VIRTUAL).put((byte) ReplayEvents.END);
        return Map.of("each-kind", Arrays.copyOf(all.array(), all.position()));
    }

    /// A qcow2 image with a snapshot, and what the snapshot says about a replay.
    private static boolean state(byte[] image) throws IOException, VmException {
        Path file = Scratch.file("vm-state", image);
        byte[] stream = VmStateFile.stream(file);
        ResumePoint point = ResumePoint.of(stream);
        ensure(point.devices().length == stream.length, "the devices change their length");
        return true;
    }

    private static Map<String, byte[]> states() {
        // Header, snapshot table, first-level table, second-level table, cluster of devices; the guest has no octets.
        ByteBuffer image = ByteBuffer.allocate(5 * CLUSTER);
        image.putInt(0, 0x514649fb).putInt(4, 2).putInt(20, 9).putInt(60, 1).putLong(64, CLUSTER);
        image.putLong(CLUSTER, 2 * CLUSTER).putInt(CLUSTER + 32, CLUSTER);
        image.putLong(2 * CLUSTER, 3 * CLUSTER).putLong(3 * CLUSTER, 4 * CLUSTER);
        image.position(4 * CLUSTER + 10);
        image.put((byte) 6).put(utf8("replay")).putInt(0).putInt(3);
        return Map.of("one-snapshot", image.array());
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
