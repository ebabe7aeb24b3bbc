package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.GuestDecoder;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.guest.TracerReport;
import blackbox.schemas.event.Event;
import blackbox.schemas.wire.Frame;
import blackbox.schemas.wire.RingStream;
import blackbox.schemas.wire.Tlv;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/// What the tracer in the guest sends, and what is said about it.
final class TracerTargets {
    private static final Instant NOW = Instant.parse("2026-11-22T00:00:00Z");
    private static final long NOW_NS = NOW.getEpochSecond() * 1_000_000_000L;
    /// The guest's boot clock shows this now.
    private static final long UPTIME_NS = 3_600_000_000_000L;

    private static final int RECORD_HEADER_BYTES = 8;
    private static final int VERSION_AT = 4;

    private TracerTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of("tracer-frames", 4 << 10, TracerTargets::frames, TracerTargets::goldenFrames),
                FuzzTarget.of("tracer-report", 4 << 10, TracerTargets::report, TracerTargets::reports),
                FuzzTarget.of("leaf", 16 << 10, leaf -> new Rows().take(leaf), TracerTargets::leaves));
    }

    private static boolean frames(byte[] stream) throws Exception {
        decode(stream, HostClock.Pace.SHARED, TracerReport.NONE);
        decode(
                stream,
                HostClock.Pace.OWN,
                new TracerReport(List.of(0L, 5L), null, 1, TracerReport.NONE.mounts(), null));
        return roundTrip(stream);
    }

    /// Every octet is in a frame, which encodes to the same again, or counted as garbage. Whether there is a frame.
    private static boolean roundTrip(byte[] stream) throws IOException {
        var ring = new RingStream(new ByteArrayInputStream(stream));
        long octets = 0;
        boolean found = false;
        for (RingStream.Item item = ring.next(); item != null; item = ring.next()) {
            switch (item) {
                case RingStream.Item.Garbage garbage -> {
                    ensure(garbage.octets() > 0, "garbage of no octets");
                    octets += garbage.octets();
                }
                case RingStream.Item.Whole whole -> {
                    byte[] again = encode(whole.frame());
                    int at = (int) octets + RECORD_HEADER_BYTES;
                    ensure(
                            Arrays.equals(again, 0, again.length, stream, at, at + again.length),
                            "a frame encodes to something else");
                    octets += RECORD_HEADER_BYTES + (again.length + 7 & ~7);
                    found = true;
                }
            }
        }
        ensure(octets == stream.length, octets + " octets of " + stream.length + " are accounted for");
        return found;
    }

    private static byte[] encode(Frame frame) {
        int length = Frame.HEADER_BYTES;
        for (Tlv tlv : frame.tlvs()) {
            length += Frame.TLV_BYTES + tlv.length();
        }
        ByteBuffer out = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(Frame.MAGIC).putShort((short) Frame.VERSION).putShort((short) frame.type());
        out.putInt(length).putShort((short) frame.flags()).putShort((short) frame.cpu());
        out.putLong(frame.cpuSeq())
                .putLong(frame.ktimeNs())
                .putInt(frame.tgid())
                .putInt(frame.tid());
        out.putLong(frame.startNs()).putLong(frame.cgroup()).putLong(frame.ret());
        for (Tlv tlv : frame.tlvs()) {
            out.putShort((short) tlv.type()).putShort((short) tlv.flags());
            out.putInt(tlv.length()).putInt((int) tlv.originalLength()).put(tlv.toBytes());
        }
        return out.array();
    }

    private static void decode(byte[] stream, HostClock.Pace pace, TracerReport report) throws RecorderException {
        var clock = new HostClock(() -> NOW, pace);
        clock.align(UPTIME_NS, NOW_NS);
        var rows = new Rows();
        var losses = new long[1];
        new GuestDecoder(clock, report, event -> {
                    long at = event.header().atNs();
                    ensure(at >= NOW_NS - UPTIME_NS && at <= NOW_NS, "an event at " + at);
                    if (event instanceof Event.RecorderLoss loss) {
                        ensure(loss.lost() > 0, "a loss of " + loss.lost());
                        losses[0]++;
                    }
                    try {
                        rows.take(event);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                })
                .run(new ByteArrayInputStream(stream));
        ensure(losses[0] <= stream.length / Frame.HEADER_BYTES * 2L, "more losses are declared than frames came");
    }

    private static boolean report(byte[] text) throws Exception {
        TracerReport report = TracerReport.of(new String(text, StandardCharsets.UTF_8));
        ensure(report.cpuSeq().stream().allMatch(number -> number >= 0), "a sequence number is negative");
        byte[] frames = golden("frames.ring");
        decode(Arrays.copyOf(frames, Math.min(frames.length, 4 << 10)), HostClock.Pace.SHARED, report);
        return !report.equals(TracerReport.NONE);
    }

    private static Map<String, byte[]> reports() {
        return Map.of(
                "all",
                ("{\"cpuSeq\":[7,0],\"emitAddress\":18446744071580000000,\"agentCgroup\":12,\"undrawn\":\"no vDSO\","
                                + "\"mounts\":{\"supervisor\":1,\"agent\":2,\"mounts\":["
                                + "{\"device\":45,\"root\":\"/\",\"at\":\"/tmp\",\"type\":16914836}]}}")
                        .getBytes(StandardCharsets.UTF_8));
    }

    /// One seed for each type of frame, of frames that a real guest sent, and the first of them in a row.
    private static Map<String, byte[]> goldenFrames() throws IOException {
        byte[] stream = golden("frames.ring");
        var seeds = new TreeMap<String, byte[]>();
        seeds.put("first-of-all", Arrays.copyOf(stream, 1 << 10));
        ByteBuffer words = ByteBuffer.wrap(stream).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < stream.length; ) {
            int size = RECORD_HEADER_BYTES + (words.getInt(at) + 7 & ~7);
            int type = words.getShort(at + RECORD_HEADER_BYTES + VERSION_AT + 2);
            seeds.put("type-" + type, Arrays.copyOfRange(stream, at, at + size));
            at += size;
        }
        return seeds;
    }

    /// The leaves of the events of those frames, one for each kind.
    private static Map<String, byte[]> leaves() throws Exception {
        var seeds = new TreeMap<String, byte[]>();
        var clock = new HostClock(() -> NOW);
        clock.align(UPTIME_NS, NOW_NS);
        new GuestDecoder(
                        clock,
                        TracerReport.NONE,
                        event -> seeds.putIfAbsent(event.kind().eventName(), Rows.leaf(event)))
                .run(new ByteArrayInputStream(golden("frames.ring")));
        return seeds;
    }

    private static byte[] golden(String name) throws IOException {
        try (InputStream in = Frame.class.getResourceAsStream("/wire/v1/" + name)) {
            return Objects.requireNonNull(in, name).readAllBytes();
        }
    }
}
