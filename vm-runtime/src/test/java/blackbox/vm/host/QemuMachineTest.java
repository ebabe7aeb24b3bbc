package blackbox.vm.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.net.PcapReader;
import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.machine.AgentCommand;
import blackbox.vm.machine.AgentCommand.AgentUser;
import blackbox.vm.machine.MachineEvent;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.VmRequest.Start;
import blackbox.vm.workspace.TarFilter;
import blackbox.vm.workspace.WorkspaceDisk;
import blackbox.vm.workspace.WorkspaceDisk.Archive;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Machines on a real QEMU.
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class QemuMachineTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static TestHost test;

    @TempDir
    Path folder;

    @BeforeAll
    static void open() throws VmException {
        test = TestHost.open();
    }

    @Test
    void outputErrorAndExitCodeComeBack() throws Exception {
        var events = new CopyOnWriteArrayList<MachineEvent>();
        try (var machine =
                TestHost.read(test.host().start(test.request(Start.WARM, Network.NONE, null), events::add))) {
            var ran = TestHost.run(machine, "echo out; echo error >&2; id -un; exit 7");
            assertEquals("out\nagent\n", ran.out());
            assertEquals("error\n", ran.error());
            assertEquals(7, ran.exit().code());
            machine.drain(PATIENCE);
            assertTrue(machine.powerOff(PATIENCE));
        }
        assertTrue(
                events.stream()
                        .anyMatch(e -> e.name().equals("SHUTDOWN")
                                && String.valueOf(e.detail()).contains("\"guest\":true")),
                () -> "the guest's shutdown is among " + events);
    }

    @Test
    void endsAreToldApartAsByAShell() throws Exception {
        try (var machine = test.start()) {
            var ran = TestHost.run(machine, AgentUser.AGENT, "", "no-such-command");
            assertEquals(127, ran.exit().shellCode());
            assertTrue(ran.error().contains("No such file"), ran.error());
        }
        try (var machine = test.start()) {
            assertEquals(
                    126,
                    TestHost.run(machine, AgentUser.AGENT, "", "/etc/passwd")
                            .exit()
                            .shellCode());
        }
        try (var machine = test.start()) {
            var exit = TestHost.run(machine, "kill -9 $$").exit();
            assertNull(exit.code());
            assertEquals(9, exit.signal());
            assertEquals(137, exit.shellCode());
        }
    }

    @Test
    void inputGoesInAndMuchOutputComesOut() throws Exception {
        String line = "0123456789abcdef".repeat(64) + "\n";
        try (var machine = test.start()) {
            var ran = TestHost.run(machine, AgentUser.AGENT, line.repeat(2000), "sh", "-c", "cat; cat /dev/null");
            assertEquals(line.repeat(2000), ran.out());
        }
    }

    @Test
    void theWorkspaceGoesInAndComesBack() throws Exception {
        Path workspace = Files.createDirectory(folder.resolve("workspace"));
        Files.writeString(workspace.resolve("a b"), "before");
        Files.createSymbolicLink(workspace.resolve("link"), Path.of("/etc/passwd"));
        try (var machine = test.start(Network.NONE, workspace)) {
            var ran = TestHost.run(
                    machine,
                    "cat 'a b'; printf after > 'a b'; mkdir new; printf '#!/bin/sh\\n' > new/run; chmod 755 new/run;"
                            + " printf x > \"$(printf 'in\\377valid')\"; mkfifo pipe; readlink link; (sleep 1000 &)");
            assertEquals("before/etc/passwd\n", ran.out());
            assertEquals(0, ran.exit().code());
            var unpacked = machine.collect(folder.resolve("back"), TarFilter.Limits.DEFAULT, PATIENCE);
            assertEquals(1, unpacked.leftOut());
            assertTrue(machine.facts().workspace().bytes() > 0);
        }
        assertEquals("after", Files.readString(folder.resolve("back/a b")));
        assertTrue(Files.isExecutable(folder.resolve("back/new/run")));
        assertEquals(Path.of("/etc/passwd"), Files.readSymbolicLink(folder.resolve("back/link")));
        assertEquals("before", Files.readString(workspace.resolve("a b")), "the workspace itself is not touched");
    }

    @Test
    void anArchiveThatWentInGoesIntoAnotherMachine() throws Exception {
        Path workspace = Files.createDirectory(folder.resolve("kept-workspace"));
        Files.writeString(workspace.resolve("file"), "kept");
        Path archive = folder.resolve("kept.tar");
        Archive first;
        try (var machine = test.start(Network.NONE, workspace)) {
            first = machine.facts().workspace();
            machine.copyWorkspaceIn(archive);
        }
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(archive)));
        assertEquals(first.bytes(), Files.size(archive));
        try (var machine = test.start(Network.NONE, archive)) {
            assertEquals(first, machine.facts().workspace());
            assertEquals("kept", TestHost.run(machine, "cat file").out());
        }
    }

    @Test
    void aPeerIsTheOnlyOneThatHearsTheGuest() throws Exception {
        try (var server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
                var machine = test.start(Network.PEER, null)) {
            var heard = new CompletableFuture<byte[]>();
            Thread.ofPlatform().daemon().start(() -> heard.complete(firstArp(machine)));
            String fetch = "curl -s -m 3 http://10.0.2.2:" + server.getLocalPort() + "/ || echo none";
            assertEquals("none\n", TestHost.run(machine, fetch).out());
            String frame = HexFormat.of().formatHex(heard.get(10, TimeUnit.SECONDS));
            assertTrue(frame.endsWith("0a000202"), "who has 10.0.2.2? But it is " + frame);
            server.setSoTimeout(1);
            assertThrows(SocketTimeoutException.class, server::accept, "nobody connects to the host");
        }
    }

    /// The first ARP message; QEMU itself announces the interface before.
    private static byte[] firstArp(QemuMachine machine) {
        try {
            var in = new DataInputStream(Channels.newInputStream(machine.network()));
            byte[] frame = in.readNBytes(in.readInt());
            while (frame[12] != 0x08 || frame[13] != 0x06) {
                frame = in.readNBytes(in.readInt());
            }
            return Arrays.copyOf(frame, 42);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void twoMachinesOfOneSnapshotShareItButNotTheirRandomness() throws Exception {
        try (var one = test.start();
                var two = test.start()) {
            String script = "head -c 32 /dev/urandom | od -An -tx1; cat /proc/sys/kernel/random/uuid; echo $RANDOM";
            var first = TestHost.run(one, AgentUser.AGENT, "", "bash", "-c", script);
            var second = TestHost.run(two, AgentUser.AGENT, "", "bash", "-c", script);
            assertNotEquals(first.out(), second.out());
            assertEquals(one.facts().snapshotDigest(), two.facts().snapshotDigest());
            assertEquals(one.facts().argv(), two.facts().argv());
            assertEquals(one.facts().ready(), two.facts().ready());
        }
    }

    @Test
    void theGuestsClockIsTheHosts() throws Exception {
        try (var machine = test.start()) {
            var ran = TestHost.run(machine, "date +%s");
            long apart =
                    Math.abs(Long.parseLong(ran.out().strip()) - Instant.now().getEpochSecond());
            assertTrue(apart < 60, "the guest's clock is " + apart + " s off");
            var reading = machine.ping();
            assertTrue(reading.roundTripNanos() > 0 && reading.guestBootNanos() > 0);
        }
    }

    @Test
    void anAgentThatRunsTooLongCanBeEnded() throws Exception {
        try (var machine = test.start()) {
            machine.startAgent(
                    TestHost.command(AgentUser.AGENT, "sleep", "1000"),
                    InputStream.nullInputStream(),
                    OutputStream.nullOutputStream(),
                    OutputStream.nullOutputStream());
            var failure = assertThrows(VmException.class, () -> machine.awaitExit(Duration.ofMillis(300)));
            assertEquals(VmException.Code.TIMEOUT, failure.code());
            machine.signalAgent(15);
            assertEquals(15, machine.awaitExit(PATIENCE).signal());
        }
    }

    @Test
    void aKilledMachineIsNoticedAndItsStreamsEnd() throws Exception {
        var events = new ByteArrayOutputStream();
        try (var machine = test.host().start(test.request(Start.WARM, Network.NONE, null), event -> {})) {
            Thread reader = Thread.ofPlatform().start(() -> copy(machine.events(), events));
            machine.startAgent(
                    TestHost.command(AgentUser.AGENT, "sleep", "1000"),
                    InputStream.nullInputStream(),
                    OutputStream.nullOutputStream(),
                    OutputStream.nullOutputStream());
            machine.kill();
            var failure = assertThrows(VmException.class, () -> machine.awaitExit(PATIENCE));
            assertEquals(VmException.Code.QEMU_FAILED, failure.code());
            assertTrue(reader.join(Duration.ofSeconds(20)), "the events end");
            assertFalse(machine.alive());
            var lost = assertThrows(VmException.class, () -> machine.copyDisk(folder.resolve("disk")));
            assertEquals(VmException.Code.QEMU_FAILED, lost.code());
        }
    }

    @Test
    void rootInTheGuestCannotReachAroundTheKernel() throws Exception {
        try (var machine = test.start()) {
            var ran = TestHost.run(machine, AgentUser.ROOT, "", "sh", "-c", """
                    id -u
                    for node in /dev/vd* /dev/vport* /dev/mem /dev/port /dev/kmsg /dev/virtio-ports; do [ -e $node ] && echo "there: $node"; done
                    (echo x > /proc/sys/kernel/core_pattern) 2>/dev/null && echo core_pattern
                    (echo b > /proc/sysrq-trigger) 2>/dev/null && echo sysrq
                    mknod /tmp/disk b 254 0 2>/dev/null && echo mknod
                    mount -t tmpfs none /mnt 2>/dev/null && echo mount
                    mount -o remount,rw /proc/sys 2>/dev/null && echo remount
                    ls /run/blackbox/* /sys/kernel/tracing/* /sys/kernel/debug/* /sys/fs/bpf/* 2>/dev/null
                    touch /run/blackbox/init/init.py 2>/dev/null && echo guest files
                    cat /proc/sys/kernel/modules_disabled
                    """);
            assertEquals("0\n1\n", ran.out());
        }
    }

    @Test
    void theNetworkIsWhatWasAskedFor() throws Exception {
        try (var server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Thread.ofVirtual().start(() -> serve(server));
            String fetch = "curl -s -m 5 http://10.0.2.2:" + server.getLocalPort() + "/ || echo none";
            var frames = new AtomicLong();
            try (var machine = test.host().start(test.request(Start.WARM, Network.USER, null), event -> {})) {
                Thread reader = Thread.ofPlatform().start(() -> frames.set(count(machine.framesOut())));
                Thread.ofPlatform().daemon().start(() -> count(machine.framesIn()));
                Thread.ofPlatform().daemon().start(() -> count(machine.events()));
                assertEquals("served", TestHost.run(machine, fetch).out());
                machine.powerOff(PATIENCE);
                assertTrue(reader.join(Duration.ofSeconds(20)), "the frames end");
            }
            assertTrue(frames.get() > 300, "a request is in " + frames + " bytes of frames");
            try (var machine = test.start(Network.NONE, null)) {
                assertEquals("none\n", TestHost.run(machine, fetch).out());
            }
        }
    }

    /// Each from the guest's own beginning, not from whatever second the host's clock showed when QEMU made it.
    @Test
    void theFramesOfBothDirectionsHaveTimesOfOneClock() throws Exception {
        var out = new ByteArrayOutputStream();
        var in = new ByteArrayOutputStream();
        try (var machine = test.host().start(test.request(Start.WARM, Network.USER, null), event -> {})) {
            Thread sent = Thread.ofPlatform().start(() -> copy(machine.framesOut(), out));
            Thread received = Thread.ofPlatform().start(() -> copy(machine.framesIn(), in));
            Thread.ofPlatform().daemon().start(() -> count(machine.events()));
            TestHost.Ran ran = TestHost.run(machine, "curl -s -m 2 http://10.0.2.2:1/; echo asked");
            assertEquals("asked\n", ran.out());
            machine.powerOff(PATIENCE);
            assertTrue(sent.join(Duration.ofSeconds(20)) && received.join(Duration.ofSeconds(20)), "the frames end");
        }
        var begin = Instant.parse("2026-01-01T00:00:00Z");
        for (ByteArrayOutputStream frames : List.of(out, in)) {
            var first = new PcapReader(new ByteArrayInputStream(frames.toByteArray())).next();
            Instant at = Instant.EPOCH.plus(
                    Objects.requireNonNull(first, "a frame in each direction").micros(), ChronoUnit.MICROS);
            assertTrue(!at.isBefore(begin) && at.isBefore(begin.plus(Duration.ofHours(1))), at::toString);
        }
    }

    /// What the agent wrote last was in the guest's memory when it ended.
    @Test
    void theDiskThatItLeavesCanBeCopied() throws Exception {
        Path disk = folder.resolve("disk.raw");
        try (var machine = test.start()) {
            assertEquals(
                    0,
                    TestHost.run(machine, "echo last > /workspace/file").exit().code());
            assertEquals(
                    VmException.Code.BUSY,
                    assertThrows(VmException.class, () -> machine.copyDisk(disk))
                            .code());
            assertTrue(machine.powerOff(PATIENCE));
            machine.copyDisk(disk);
            var exists = assertThrows(VmException.class, () -> machine.copyDisk(disk));
            assertEquals(VmException.Code.IO, exists.code(), exists::getMessage);
        }
        assertEquals("last\n", fileOn(disk, "/upper/workspace/file"));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(disk)));
        assertEquals(WorkspaceDisk.LENGTH_BYTES, Files.size(disk));
    }

    private static String fileOn(Path disk, String path) throws VmException {
        Command.of("e2fsck", "-E", "journal_only", "-y", disk.toString()).run();
        return Command.of("debugfs", "-R", "cat " + path, disk.toString()).run();
    }

    @Test
    void aColdStartRunsToo() throws Exception {
        Path disk = folder.resolve("cold.raw");
        try (var machine =
                TestHost.read(test.host().start(test.request(Start.COLD, Network.NONE, null), event -> {}))) {
            assertNull(machine.facts().snapshotDigest());
            assertEquals("cold\n", TestHost.run(machine, "echo cold | tee file").out());
            assertTrue(machine.powerOff(PATIENCE));
            machine.copyDisk(disk);
        }
        assertEquals("cold\n", fileOn(disk, "/upper/workspace/file"));
    }

    @Test
    void aFullHostDiskEndsTheRunAndIsNamed() throws Exception {
        Path data = Files.createDirectories(folder.resolve("data"));
        for (String shared : List.of("images", "archive", "snapshots", "cache")) {
            Files.createSymbolicLink(data.resolve(shared), test.data().resolve(shared));
        }
        Path small = Files.createDirectory(data.resolve("vm"));
        Command.of("mount", "-t", "tmpfs", "-o", "size=560m", "tmpfs", small.toString())
                .run();
        try {
            var host = QemuHost.open(data, InstantSource.system(), new SecureRandom(), what -> {});
            try (var machine = TestHost.read(host.start(test.request(Start.WARM, Network.NONE, null), event -> {}))) {
                var failure = assertThrows(
                        VmException.class,
                        () -> TestHost.run(machine, "dd if=/dev/urandom of=/workspace/large bs=1M count=900"));
                assertEquals(VmException.Code.DISK_FULL, failure.code(), failure.getMessage());
            }
        } finally {
            Command.of("umount", small.toString()).run();
        }
    }

    @Test
    void aSnapshotStillHasItsDigest() throws Exception {
        assertTrue(test.host()
                .snapshot(test.request(Start.WARM, Network.NONE, null))
                .verify());
    }

    @Test
    void badRequestsAreOneClearSentence() throws Exception {
        var missing = assertThrows(VmException.class, () -> test.start(Network.NONE, folder.resolve("none")));
        assertEquals(VmException.Code.WORKSPACE_UNREADABLE, missing.code());
        assertThrows(
                IllegalArgumentException.class, () -> new AgentCommand(List.of(), List.of(), null, AgentUser.AGENT));
    }

    private static void serve(ServerSocket server) {
        byte[] answer = "HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nserved".getBytes(StandardCharsets.US_ASCII);
        while (!server.isClosed()) {
            try (var connection = server.accept()) {
                connection.getInputStream().read(new byte[4096]);
                connection.getOutputStream().write(answer);
            } catch (java.io.IOException e) {
                return;
            }
        }
    }

    private static void copy(InputStream from, OutputStream to) {
        try {
            from.transferTo(to);
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static long count(InputStream from) {
        try {
            return from.transferTo(OutputStream.nullOutputStream());
        } catch (java.io.IOException e) {
            return -1;
        }
    }
}
