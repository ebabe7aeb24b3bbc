package blackbox.schemas.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Seeded;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class RingStreamTest {

    private static final int RECORD_HEADER = 8;

    /// What a stream gave: lines for frames, and octets of garbage.
    private record Outcome(List<String> frames, long garbage) {}

    @Test
    void framesOfARealGuestReadAlike() throws IOException {
        Outcome outcome = read(new ByteArrayInputStream(golden("frames.ring")));
        String expected = new String(golden("frames.txt"), StandardCharsets.UTF_8);
        assertEquals(expected, String.join("\n", outcome.frames()) + "\n");
        assertEquals(0, outcome.garbage());
    }

    @Test
    void everyFrameTypeIsInTheGoldenFile() throws IOException {
        String lines = String.join(
                "\n", read(new ByteArrayInputStream(golden("frames.ring"))).frames());
        for (FrameType type : FrameType.values()) {
            assertTrue(lines.contains(type.name() + " "), type + " is missing");
        }
    }

    @Test
    void streamThatComesOctetByOctetReadsAlike() throws IOException {
        byte[] stream = golden("frames.ring");
        var dribble = new InputStream() {
            private int at;

            @Override
            public int read() {
                return at == stream.length ? -1 : stream[at++] & 0xff;
            }

            @Override
            public int read(byte[] target, int offset, int length) {
                int octet = read();
                if (octet < 0) {
                    return -1;
                }
                target[offset] = (byte) octet;
                return 1;
            }
        };
        assertEquals(read(new ByteArrayInputStream(stream)), read(dribble));
    }

    @Test
    void recordThatClaimsFourGibibytesIsSkipped() throws IOException {
        byte[] stream = golden("frames.ring");
        byte[] first = records(stream).getFirst();
        for (int claim : new int[] {-1, 0x3fffffff, Frame.BYTES_MAX + 1, 63, 0}) {
            byte[] liar = first.clone();
            ByteBuffer.wrap(liar)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(0, claim)
                    .putInt(RECORD_HEADER + 8, claim);
            Outcome outcome = read(new ByteArrayInputStream(concat(liar, stream)));
            assertEquals(read(new ByteArrayInputStream(stream)).frames(), outcome.frames());
            assertEquals(liar.length, outcome.garbage(), "claim " + claim);
        }
    }

    @Test
    void valueThatClaimsMoreThanItsFrameIsRefused() {
        byte[] record = records(golden("frames.ring")).getFirst();
        byte[] frame = Arrays.copyOfRange(record, RECORD_HEADER, RECORD_HEADER + length(record));
        assertNotNull(Frame.parse(frame, 0, frame.length));
        var words = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
        for (int claim : new int[] {-1, Integer.MAX_VALUE, words.getInt(Frame.HEADER_BYTES + 4) + 1}) {
            words.putInt(Frame.HEADER_BYTES + 4, claim);
            assertNull(Frame.parse(frame, 0, frame.length), "claim " + claim);
        }
    }

    @Test
    void garbageBetweenRecordsIsCountedAndNothingElseIsLost() throws IOException {
        RandomGenerator random = Seeded.random("garbageBetweenRecords");
        byte[] stream = golden("frames.ring");
        for (int round = 0; round < 50; round++) {
            var out = new ByteArrayOutputStream();
            long garbage = 0;
            for (byte[] record : records(stream)) {
                byte[] noise = random.nextInt(3) == 0 ? Seeded.octets(random, 5_000) : new byte[0];
                garbage += noise.length;
                out.writeBytes(noise);
                out.writeBytes(record);
            }
            Outcome outcome = read(new ByteArrayInputStream(out.toByteArray()));
            assertEquals(read(new ByteArrayInputStream(stream)).frames(), outcome.frames());
            assertEquals(garbage, outcome.garbage());
        }
    }

    @Test
    void damagedStreamsEndWithoutAnExceptionAndGiveNoFrameTwice() throws IOException {
        RandomGenerator random = Seeded.random("damagedStreams");
        byte[] whole = golden("frames.ring");
        int most = records(whole).size();
        for (int round = 0; round < 300; round++) {
            byte[] stream = whole.clone();
            for (int i = random.nextInt(1, 40); i > 0; i--) {
                stream[random.nextInt(stream.length)] = (byte) random.nextInt();
            }
            Outcome outcome = read(new ByteArrayInputStream(stream, 0, random.nextInt(stream.length)));
            assertTrue(outcome.frames().size() <= most);
        }
    }

    @Test
    void endlessGarbageIsToldOf() throws IOException {
        var noise = new InputStream() {
            @Override
            public int read() {
                return 0;
            }
        };
        var stream = new RingStream(noise);
        assertEquals(new RingStream.Item.Garbage(1 << 20), stream.next());
        assertEquals(new RingStream.Item.Garbage(1 << 20), stream.next());
    }

    @Test
    void busyAndDiscardedRecordsAreGarbage() throws IOException {
        byte[] stream = golden("frames.ring");
        for (int bit : new int[] {0x80, 0x40}) {
            byte[] first = records(stream).getFirst();
            first[3] |= (byte) bit;
            Outcome outcome = read(new ByteArrayInputStream(concat(first, stream)));
            assertEquals(read(new ByteArrayInputStream(stream)).frames(), outcome.frames());
            assertEquals(first.length, outcome.garbage());
        }
    }

    private static Outcome read(InputStream in) throws IOException {
        var stream = new RingStream(in);
        var frames = new ArrayList<String>();
        long garbage = 0;
        for (RingStream.Item item = stream.next(); item != null; item = stream.next()) {
            switch (item) {
                case RingStream.Item.Whole whole -> frames.add(line(whole.frame()));
                case RingStream.Item.Garbage skipped -> garbage += skipped.octets();
            }
        }
        return new Outcome(frames, garbage);
    }

    private static String line(Frame frame) {
        var line = new StringBuilder();
        FrameType type = FrameType.ofCode(frame.type());
        line.append(type == null ? "unknown" : type.name());
        line.append(" flags=").append(frame.flags()).append(" cpu=").append(frame.cpu());
        line.append(" seq=").append(frame.cpuSeq()).append(" ktime=").append(frame.ktimeNs());
        line.append(" tgid=").append(frame.tgid()).append(" tid=").append(frame.tid());
        line.append(" start=").append(frame.startNs()).append(" cgroup=").append(frame.cgroup());
        line.append(" ret=").append(frame.ret());
        for (Tlv tlv : frame.tlvs()) {
            line.append(" [").append(tlv.type()).append(' ').append(tlv.flags());
            line.append(' ')
                    .append(tlv.length())
                    .append('/')
                    .append(tlv.originalLength())
                    .append(' ');
            byte[] octets = tlv.toBytes();
            line.append(HexFormat.of().formatHex(octets, 0, Math.min(octets.length, 64)));
            line.append(']');
        }
        return line.toString();
    }

    private static List<byte[]> records(byte[] stream) {
        var records = new ArrayList<byte[]>();
        for (int at = 0; at < stream.length; ) {
            int size = RECORD_HEADER + (length(Arrays.copyOfRange(stream, at, at + 4)) + 7 & ~7);
            records.add(Arrays.copyOfRange(stream, at, at + size));
            at += size;
        }
        return records;
    }

    private static int length(byte[] record) {
        return ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN).getInt(0);
    }

    private static byte[] concat(byte[] a, byte[] b) {
        byte[] both = Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, both, a.length, b.length);
        return both;
    }

    private static byte[] golden(String name) {
        try (InputStream in = RingStreamTest.class.getResourceAsStream("/wire/v1/" + name)) {
            return in == null ? new byte[0] : in.readAllBytes();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
