package blackbox.recorder.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.recorder.RecorderException;
import blackbox.schemas.event.AllocationMode;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.event.FindingDetail;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Protection;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileView;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGeneratorFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Decodes frames that a real guest sent (the golden file of the wire format).
class GuestDecoderTest {

    private static final Path GOLDEN = Path.of("../schemas/src/test/resources/wire/v1/frames.ring");
    private static final InstantSource CLOCK = InstantSource.fixed(Instant.parse("2026-11-22T00:00:00Z"));

    @Test
    void argumentsComeByteForByte() throws Exception {
        List<Text> argv = all(Event.ProcessExec.class, decode(frames())).stream()
                .map(Event.ProcessExec::argv)
                .filter(list -> list != null && list.size() == 5)
                .findFirst()
                .orElseThrow();
        assertEquals(octets(0xff, 0xfe, ' ', 'b', 'a', 'd', ' ', 0xc3, '('), argv.get(1));
        assertEquals(Text.of("line1\nline2\n"), argv.get(2));
        assertEquals(Text.of(""), argv.get(3));
        assertEquals(Text.of("end"), argv.get(4));
    }

    @Test
    void environmentKeepsItsNamesOnly() throws Exception {
        List<Event> events = decode(frames());
        assertTrue(all(Event.ProcessExec.class, events).stream()
                .anyMatch(exec -> List.of(Text.of("SECRET"), Text.of("B")).equals(exec.env())));
        assertTrue(new String(frames(), StandardCharsets.ISO_8859_1).contains("hunter2"));
        for (Event event : events) {
            assertFalse(event.toString().contains("hunter2"));
        }
    }

    @Test
    void filesComeWithTheirPathsAndWhatWasDone() throws Exception {
        List<Event> events = decode(frames());
        assertTrue(all(Event.FileOpen.class, events).stream()
                .anyMatch(open -> is("/tmp/io.a", open.path()) && open.created()));
        Event.FileIo io = all(Event.FileIo.class, events).stream()
                .filter(event -> is("/tmp/io.b", event.path()))
                .findFirst()
                .orElseThrow();
        // sendfile 50,000, copy_file_range 30,000, splice 4,096, writev 5, pwrite 2: each counted once
        assertEquals(84_103, io.bytesWritten());
        assertEquals(5, io.writes());
        assertEquals(0L, io.offsetFirst());
        assertEquals(94_096L, io.offsetLast());
        Event.FileChange rename = first(Event.FileChange.class, Kind.FILE_RENAME, events);
        assertEquals(Text.of("/tmp/w/a"), rename.path());
        assertEquals(Text.of("/tmp/w/b"), rename.pathTo());
    }

    @Test
    void aMappingHasAProtectionAndIsStoredWithTheFlags() throws Exception {
        Event.FileMap map = all(Event.FileMap.class, decode(frames())).getFirst();
        assertEquals(new Protection(3), map.protection());
        var row = new Row();
        EventRows.fill(map, row);
        assertEquals(Kind.FILE_MMAP.code(), row.number(Column.KIND));
        assertEquals(3, row.number(Column.FLAGS));
        assertEquals(0, row.number(Column.RET));
        assertEquals(new Protection(3), ((FileView.Mmap) new EventViews().of(row)).protection());
    }

    @Test
    void roomForAFileHasItsEndAndWhatWasDone() throws Exception {
        Event.FileAllocate given =
                all(Event.FileAllocate.class, decode(frames())).getFirst();
        assertEquals(Text.of("/tmp/io.b"), given.path());
        assertEquals(0x30d40L, given.end());
        assertEquals(new AllocationMode(0), given.mode());
        var row = new Row();
        EventRows.fill(given, row);
        assertFalse(row.has(Column.WHAT));
        EventRows.fill(new Event.FileAllocate(given.header(), given.path(), 7L, new AllocationMode(3), 0), row);
        assertEquals(Text.of("punch-hole+keep-size"), row.text(Column.WHAT));
    }

    @Test
    void attributesOfAFileAreStoredWithTheFlags() throws Exception {
        Event.FileChange change = first(Event.FileChange.class, Kind.FILE_CHATTR, decode(frames()));
        assertEquals(Text.of("overlay[0:20]/workspace/f"), change.path()); // nothing says where that is mounted
        var row = new Row();
        EventRows.fill(change, row);
        assertEquals(0x80040, row.number(Column.FLAGS)); // extents and, set by the call, no dump
        assertFalse(row.has(Column.MODE));
    }

    @Test
    void aBoundSocketHasItsOwnEnd() throws Exception {
        Event.NetCall bound = first(Event.NetCall.class, Kind.NET_BIND, decode(frames()));
        assertEquals("tcp", bound.protocol());
        assertEquals(new Endpoint("::1", 4465), bound.local());
        assertEquals(0, bound.ret());
    }

    @Test
    void pathWithoutItsBeginningIsMarkedAndNotRooted() throws Exception {
        Event.FileChange deep = all(Event.FileChange.class, decode(frames())).stream()
                .filter(event -> !event.header().marks().truncated().isEmpty())
                .findFirst()
                .orElseThrow();
        assertTrue(deep.header().marks().truncated().containsKey("path"));
        assertFalse(String.valueOf(deep.path()).startsWith("/"));
    }

    @Test
    void flowsAndQuestionsCome() throws Exception {
        List<Event> events = decode(frames());
        assertTrue(all(Event.NetFlow.class, events).stream()
                .anyMatch(flow -> flow.protocol().equals("tcp") && flow.bytesOut() == 2 && flow.bytesIn() == 2));
        Event.DnsQuery question = all(Event.DnsQuery.class, events).getFirst();
        assertEquals(Text.of("example.com"), question.name());
        assertEquals(new Endpoint("10.0.2.3", 53), question.remote());
        Event.CredChange cred = all(Event.CredChange.class, events).getFirst();
        assertEquals(1000, cred.gidTo());
    }

    @Test
    void everyNumberThatNeverCameIsDeclared() throws Exception {
        byte[] stream = frames();
        List<Event> events = decode(stream, 0);
        long lost = all(Event.RecorderLoss.class, events).stream()
                .mapToLong(Event.RecorderLoss::lost)
                .sum();
        long numbered = events.stream().filter(e -> e.header().origin() != null).count();
        long highest = events.stream()
                .map(e -> e.header().origin())
                .filter(o -> o != null)
                .mapToLong(o -> o.cpuSeq())
                .max()
                .orElseThrow();
        long repeated = all(Event.RecorderFinding.class, events).stream()
                .filter(e -> e.detail() instanceof FindingDetail.SequenceRepeated)
                .count();
        assertEquals(highest, numbered - repeated + lost);
    }

    @Test
    void hostileFramesGiveEventsOrFindingsAndNeverAnException() throws Exception {
        long seed = Long.getLong("blackbox.seed", System.nanoTime());
        System.out.println("GuestDecoderTest: -Dblackbox.seed=" + seed);
        var random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        var row = new Row();
        for (int round = 0; round < 300; round++) {
            byte[] stream = frames();
            for (int i = 0; i < 60; i++) {
                int at = random.nextInt(stream.length);
                stream[at] = (byte) random.nextInt();
            }
            for (Event event : decode(stream, 0)) {
                EventRows.fill(event, row);
            }
        }
    }

    @Test
    void typesFromTheFutureAreKeptAsFindings() throws Exception {
        byte[] stream = firstRecord(frames());
        ByteBuffer.wrap(stream).order(ByteOrder.LITTLE_ENDIAN).putShort(8 + 6, (short) 200);
        Event.RecorderFinding finding =
                all(Event.RecorderFinding.class, decode(stream)).getFirst();
        assertEquals(new FindingDetail.UnknownFrame(200), finding.detail());
        assertNotNull(finding.header().origin());
    }

    @Test
    void aTimeThatOverflowsIsNow() throws Exception {
        byte[] stream = firstRecord(frames());
        ByteBuffer.wrap(stream).order(ByteOrder.LITTLE_ENDIAN).putLong(8 + 24, Long.MAX_VALUE);
        var clock = new HostClock(CLOCK);
        clock.align(10, clock.nowNs());
        var events = new ArrayList<Event>();
        new GuestDecoder(clock, TracerReport.NONE, events::add).run(new ByteArrayInputStream(stream));
        assertEquals(clock.nowNs(), events.getLast().header().atNs());
    }

    @Test
    void aFrameOfACpuThatTheGuestDoesNotHaveIsALieThatIsTold() throws Exception {
        byte[] stream = firstRecord(frames());
        ByteBuffer.wrap(stream)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putShort(8 + 14, (short) 4_095)
                .putLong(8 + 16, 90);
        List<Event> events = decode(stream);
        assertEquals(2, events.size(), "the finding and the event, and no loss");
        var finding = (Event.RecorderFinding) events.getFirst();
        assertEquals(new FindingDetail.SequenceImpossible(4_095, 90), finding.detail());
        assertNotNull(events.getLast().header().origin());
    }

    private static List<Event> decode(byte[] stream) throws RecorderException {
        return decode(stream, 77);
    }

    private static List<Event> decode(byte[] stream, long begin) throws RecorderException {
        var events = new ArrayList<Event>();
        var clock = new HostClock(CLOCK);
        clock.align(0, 0);
        new GuestDecoder(clock, new TracerReport(List.of(begin), null, 0, AgentMounts.NONE, null), events::add)
                .run(new ByteArrayInputStream(stream));
        return events;
    }

    private static boolean is(String expected, @Nullable Text actual) {
        return actual != null && actual.equals(Text.of(expected));
    }

    private static byte[] firstRecord(byte[] stream) {
        int length = ByteBuffer.wrap(stream).order(ByteOrder.LITTLE_ENDIAN).getInt(0);
        return Arrays.copyOf(stream, 8 + (length + 7 & ~7));
    }

    private static <T extends Event> T first(Class<T> type, Kind kind, List<Event> events) {
        return all(type, events).stream()
                .filter(event -> event.kind() == kind)
                .findFirst()
                .orElseThrow();
    }

    private static <T extends Event> List<T> all(Class<T> type, List<Event> events) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }

    private static Text octets(int... values) {
        var octets = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            octets[i] = (byte) values[i];
        }
        return Text.copyOf(octets, 0, octets.length);
    }

    private static byte[] frames() throws IOException {
        return Files.readAllBytes(GOLDEN);
    }
}
