package blackbox.recorder.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.recorder.guest.AgentMounts.Mount;
import blackbox.schemas.event.Marks;
import blackbox.schemas.wire.Frame;
import blackbox.schemas.wire.Tlv;
import blackbox.schemas.wire.TlvType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FrameFieldsTest {
    private static final long SUPERVISOR = 40;
    private static final long AGENT = 41;
    private static final long OWN = 42;
    private static final int ROOT = 27;
    private static final int OTHER = 45;

    private static final AgentMounts MOUNTS =
            new AgentMounts(SUPERVISOR, AGENT, List.of(new Mount(ROOT, "/", "/"), new Mount(30, "/", "/run")));

    private static FrameFields fields(Tlv... tlvs) {
        return new FrameFields(new Frame(32, 0, 0, 1, 1, 7, 7, 1, 1, 0, List.of(tlvs)), MOUNTS);
    }

    private static Tlv value(TlvType type, int flags, byte[] octets) {
        long length = (flags & Tlv.TRUNCATED) == 0 ? octets.length : Tlv.LENGTH_UNKNOWN;
        return new Tlv(type.code(), flags, length, octets, 0, octets.length);
    }

    /// @param names from the leaf to the root
    private static Tlv names(TlvType type, int flags, String... names) {
        String octets = names.length == 0 ? "" : String.join("\0", names) + "\0";
        return value(type, flags, octets.getBytes(StandardCharsets.UTF_8));
    }

    private static Tlv origin(long device, long namespace) {
        ByteBuffer octets = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
        octets.putLong(device)
                .putLong(9)
                .putLong(0x01021994)
                .putInt((int) namespace)
                .putInt(3);
        return value(TlvType.ORIGIN, 0, octets.array());
    }

    private static String path(FrameFields fields) {
        return String.valueOf(fields.path(TlvType.PATH, "path"));
    }

    @Test
    void withoutAnOriginThePathIsTheKernels() {
        FrameFields fields = fields(names(TlvType.PATH, 0, "file", "folder"));
        assertEquals("/folder/file", path(fields));
        assertNull(fields.seen());
    }

    @Test
    void aFileOfTheAgentsRootHasItsNameThereWhateverItIsCalled() {
        FrameFields fields = fields(
                names(TlvType.PATH, 0, "evil", "innocent", "tmp"),
                origin(ROOT, OWN),
                names(TlvType.ORIGIN_PATH, Tlv.DETACHED, "evil", "workspace", "/"));
        assertEquals("/workspace/evil", path(fields));
        assertEquals("{\"seenAs\":{\"path\":\"/tmp/innocent/evil\"},\"mountNamespace\":42}", fields.seen());
        assertEquals(Marks.NONE, fields.marks());
    }

    @Test
    void whatIsMountedElsewhereIsNamedByItsFileSystem() {
        FrameFields fields = fields(
                names(TlvType.PATH, 0, "passwd", "etc"),
                origin(OTHER, OWN),
                names(TlvType.ORIGIN_PATH, Tlv.DETACHED, "passwd", "/"));
        assertEquals("tmpfs[0:45]/passwd", path(fields));
    }

    @Test
    void aTreeThatIsMountedNowhereSaysSo() {
        FrameFields fields = fields(
                names(TlvType.PATH, 0, "file"),
                origin(ROOT, 0),
                names(TlvType.ORIGIN_PATH, Tlv.DETACHED, "file", "kept", "workspace", "/"));
        assertEquals("/workspace/kept/file", path(fields));
        assertEquals("{\"seenAs\":{\"path\":\"/file\"},\"mountNamespace\":0}", fields.seen());
    }

    @Test
    void theSupervisorsPathsAndTheAgentsOwnStayAsTheyAre() {
        FrameFields supervisors = fields(
                names(TlvType.PATH, 0, "file", "mnt"),
                origin(ROOT, SUPERVISOR),
                names(TlvType.ORIGIN_PATH, Tlv.DETACHED, "file", "/"));
        assertEquals("/mnt/file", path(supervisors));
        assertNull(supervisors.seen());
        FrameFields agents = fields(
                names(TlvType.PATH, 0, "file", "workspace"),
                origin(ROOT, AGENT),
                names(TlvType.ORIGIN_PATH, Tlv.DETACHED, "file", "workspace", "/"));
        assertEquals("/workspace/file", path(agents));
        assertNull(agents.seen());
    }

    @Test
    void whatHasNoPathKeepsItsName() {
        FrameFields fields = fields(
                names(TlvType.PATH, Tlv.DETACHED, "memfd:x"),
                origin(1, 0),
                names(TlvType.ORIGIN_PATH, Tlv.DETACHED, "memfd:x"));
        assertEquals("memfd:x", path(fields));
        assertNull(fields.seen());
    }

    @Test
    void aPathWithinItsFileSystemIsEnough() {
        FrameFields fields = fields(names(TlvType.PATH, Tlv.DETACHED, "file", "workspace", "/"), origin(ROOT, 0));
        assertEquals("/workspace/file", path(fields));
        assertNull(fields.seen());
    }

    @Test
    void aCutPathDoesNotPassForAnotherFileSystems() {
        Map<String, Long> cut = Map.of("path", FrameFields.SIZE_UNKNOWN);
        FrameFields moved = fields(
                names(TlvType.PATH, Tlv.TRUNCATED, "passwd", "tmpfs[0:45]"),
                origin(ROOT, OWN),
                names(TlvType.ORIGIN_PATH, Tlv.TRUNCATED, "passwd", "tmpfs[0:45]"));
        assertEquals("?/tmpfs[0:45]/passwd", path(moved));
        assertEquals(cut, moved.marks().truncated());
        FrameFields before = fields(names(TlvType.PATH, Tlv.TRUNCATED, "passwd", "tmpfs[0:45]"));
        assertEquals("?/tmpfs[0:45]/passwd", path(before));
        assertEquals(cut, before.marks().truncated());
    }
}
