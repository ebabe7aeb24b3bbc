package blackbox.replay.packets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.replay.ReplayException;
import blackbox.schemas.Hash;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Text;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What Wireshark's own reader finds in the frames of a run.
class PacketExportTest {

    private static final Endpoint GUEST = new Endpoint("10.0.2.15", 40_000);
    private static final Endpoint SERVER = new Endpoint("198.18.0.7", 443);
    private static final Endpoint RESOLVER = new Endpoint("10.0.2.3", 53);
    private static final int SEQUENCE = 0xfedcba98;

    @TempDir
    Path folder;

    private TestRun run;
    private TestEvents events;
    private final ByteArrayOutputStream sent = pcap();
    private final ByteArrayOutputStream received = pcap();

    @BeforeEach
    void begin() throws Exception {
        run = new TestRun(folder);
        events = new TestEvents(run);
        run.open("packets");
        run.add(new Event.ProcessExec(
                events.guest(100, 1, "curl"),
                Text.of("/usr/bin/curl"),
                List.of(Text.of("curl")),
                List.of(),
                Text.of("/workspace"),
                0));
    }

    private static ByteArrayOutputStream pcap() {
        var out = new ByteArrayOutputStream();
        out.writeBytes(ByteBuffer.allocate(24)
                .putInt(0xa1b2c3d4)
                .putShort((short) 2)
                .putShort((short) 4)
                .putLong(0)
                .putInt(65_535)
                .putInt(1)
                .array());
        return out;
    }

    private static void frame(ByteArrayOutputStream pcap, long micros, byte[] frame) {
        pcap.writeBytes(ByteBuffer.allocate(16)
                .putInt((int) (micros / 1_000_000))
                .putInt((int) (micros % 1_000_000))
                .putInt(frame.length)
                .putInt(frame.length)
                .array());
        pcap.writeBytes(frame);
    }

    private static byte[] ip(int protocol, String from, String to, byte[] payload) {
        var frame = ByteBuffer.allocate(34 + payload.length);
        frame.put(12, (byte) 8).position(14);
        frame.put((byte) 0x45)
                .put((byte) 0)
                .putShort((short) (20 + payload.length))
                .putInt(0)
                .put((byte) 64)
                .put((byte) protocol)
                .putShort((short) 0)
                .put(address(from))
                .put(address(to))
                .put(payload);
        return frame.array();
    }

    private static byte[] address(String text) {
        var octets = new byte[4];
        String[] parts = text.split("\\.");
        for (int i = 0; i < 4; i++) {
            octets[i] = (byte) Integer.parseInt(parts[i]);
        }
        return octets;
    }

    private static byte[] tcp(Endpoint from, Endpoint to, int sequence, int flags) {
        byte[] segment = ByteBuffer.allocate(20)
                .putShort((short) from.port())
                .putShort((short) to.port())
                .putInt(sequence)
                .putInt(0)
                .putShort((short) (0x5000 | flags))
                .putShort((short) 1000)
                .putInt(0)
                .array();
        return ip(6, from.ip(), to.ip(), segment);
    }

    private static byte[] udp(Endpoint from, Endpoint to) {
        byte[] datagram = ByteBuffer.allocate(12)
                .putShort((short) from.port())
                .putShort((short) to.port())
                .putShort((short) 12)
                .putShort((short) 0)
                .putInt(0)
                .array();
        return ip(17, from.ip(), to.ip(), datagram);
    }

    private void answered(String name, String address) {
        run.add(new Event.DnsQuery(
                EventHeader.host(run.tick()),
                Text.of(name),
                1,
                List.of(Text.of(address)),
                "udp",
                new Endpoint(GUEST.ip(), 5000),
                RESOLVER));
    }

    private void seal(CaptureName name, byte[] octets) throws Exception {
        Path captures = Files.createDirectories(new DataFolder(folder).captures(run.run));
        Files.write(name.in(captures), octets);
        run.add(new Event.VmCapture(
                EventHeader.host(run.tick()),
                name.text(),
                "{\"from\":0,\"to\":" + octets.length + ",\"sha256\":\"" + Hash.sha256(octets) + "\"}"));
    }

    private Recordings sealed() throws Exception {
        seal(CaptureName.FRAMES_OUT, sent.toByteArray());
        seal(CaptureName.FRAMES_IN, received.toByteArray());
        run.close(0);
        run.spool(0, run.batches.size());
        return Recordings.unchecked(folder);
    }

    private static List<String> tshark(Path file, String... arguments) throws Exception {
        var command = new ArrayList<>(List.of("tshark", "-n", "-r", file.toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        return said.lines().toList();
    }

    @Test
    void eachConnectionHasItsProcess() throws Exception {
        run.add(new Event.NetCall(
                events.guest(100, 1, "curl"), Kind.NET_SEND, "udp", new Endpoint("::", 5000), RESOLVER, null, 0));
        run.add(new Event.NetSyn(
                events.guest(100, 1, "curl"),
                "tcp",
                GUEST,
                SERVER,
                Integer.toUnsignedLong(SEQUENCE),
                Text.of("/usr/bin/curl")));
        answered("api.example", SERVER.ip());
        answered("one.example", "198.18.0.9");
        answered("two.example", "198.18.0.9");
        frame(sent, 1_000_001, udp(new Endpoint(GUEST.ip(), 5000), RESOLVER));
        frame(received, 1_000_002, udp(RESOLVER, new Endpoint(GUEST.ip(), 5000)));
        frame(sent, 1_000_003, udp(new Endpoint(GUEST.ip(), 5000), RESOLVER));
        frame(sent, 1_000_004, tcp(GUEST, SERVER, SEQUENCE, 2));
        frame(received, 1_000_005, tcp(SERVER, GUEST, 7, 0x12));
        frame(sent, 1_000_006, tcp(GUEST, SERVER, SEQUENCE + 1, 2)); // of which no event tells
        frame(sent, 1_000_007, new byte[60]);
        Path file = folder.resolve("out.pcapng");
        PacketExport.Written written;
        Recordings recordings = sealed();
        try (var to = Files.newOutputStream(file)) {
            written = PacketExport.write(recordings, run.run, to);
        }
        assertEquals(7, written.frames());
        assertEquals(2, written.connections());
        assertEquals(
                List.of(
                        "guest|1.000001000|curl (100), /usr/bin/curl; event 2",
                        "guest|1.000002000|",
                        "guest|1.000003000|",
                        "guest|1.000004000|curl (100), /usr/bin/curl; event 3",
                        "guest|1.000005000|",
                        "guest|1.000006000|no event says which process",
                        "guest|1.000007000|"),
                tshark(
                        file,
                        "-T",
                        "fields",
                        "-E",
                        "separator=|",
                        "-e",
                        "frame.interface_name",
                        "-e",
                        "frame.time_epoch",
                        "-e",
                        "frame.comment"));
        assertEquals(
                List.of("0x00000002", "0x00000001"),
                tshark(
                        file,
                        "-Y",
                        "tcp.port == 443 && !(tcp.seq_raw == " + Integer.toUnsignedLong(SEQUENCE + 1) + ")",
                        "-T",
                        "fields",
                        "-e",
                        "frame.packet_flags"));
        String names = String.join("\n", tshark(file, "-q", "-z", "hosts"));
        assertTrue(names.contains("198.18.0.7\tapi.example"), names);
        assertFalse(names.contains("198.18.0.9"), "it was the answer to two names");
    }

    /// Of two processes that send between the same ends, the frames do not say which of them it was.
    @Test
    void noProcessIsNamedForAnothers() throws Exception {
        var local = new Endpoint("::", 5000);
        run.add(new Event.NetCall(events.guest(200, 1, "apt"), Kind.NET_CONNECT, "udp", local, RESOLVER, null, 0));
        run.add(new Event.NetCall(events.guest(100, 1, "curl"), Kind.NET_SEND, "udp", local, RESOLVER, null, 0));
        run.add(new Event.NetCall(events.guest(300, 1, "nc"), Kind.NET_SEND, "udp", local, RESOLVER, null, 0));
        frame(sent, 1, udp(new Endpoint(GUEST.ip(), 5000), RESOLVER));
        Path file = folder.resolve("out.pcapng");
        Recordings recordings = sealed();
        try (var to = Files.newOutputStream(file)) {
            PacketExport.Written unused = PacketExport.write(recordings, run.run, to);
        }
        assertEquals(
                List.of("one of several processes, first curl (100), /usr/bin/curl; event 3"),
                tshark(file, "-T", "fields", "-e", "frame.comment"));
    }

    /// Nothing is written of what was changed after it was sealed.
    @Test
    void anAlteredFrameIsRefused() throws Exception {
        frame(sent, 1, new byte[60]);
        Recordings recordings = sealed();
        Path file = CaptureName.FRAMES_OUT.in(new DataFolder(folder).captures(run.run));
        byte[] octets = Files.readAllBytes(file);
        octets[octets.length - 1] ^= 1;
        Files.write(file, octets);
        var to = new ByteArrayOutputStream();
        var refused = assertThrows(ReplayException.class, () -> PacketExport.write(recordings, run.run, to));
        assertEquals(ReplayException.Code.ALTERED, refused.code());
        assertArrayEquals(new byte[0], to.toByteArray());
    }

    @Test
    void aRunWithoutNetworkHasNone() throws Exception {
        run.close(0);
        run.spool(0, run.batches.size());
        assertFalse(PacketExport.isPossible(Recordings.unchecked(folder), run.run));
    }
}
