package blackbox.recorder.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.schemas.event.Actor;
import blackbox.schemas.wire.Frame;
import blackbox.schemas.wire.FrameType;
import blackbox.schemas.wire.Tlv;
import blackbox.schemas.wire.TlvType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Whose act a frame tells of, in a guest where the agent may become root.
class ProcessTableTest {

    private static final long CGROUP = 4_711;
    private static final long ROOT = 1;

    private final ProcessTable table = new ProcessTable(CGROUP);

    private @Nullable Actor see(FrameType type, int pid, long cgroup, int parent) {
        byte[] octets = ByteBuffer.allocate(16)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(parent)
                .putLong(startOf(parent))
                .array();
        List<Tlv> tlvs = parent == 0 ? List.of() : List.of(new Tlv(TlvType.PARENT.code(), 0, 16, octets, 0, 16));
        var frame = new Frame(type.code(), 0, 0, 1, 1, pid, pid, startOf(pid), cgroup, 0, tlvs);
        table.of(frame);
        return table.actor(frame);
    }

    private static long startOf(int pid) {
        return 1_000L * pid;
    }

    @Test
    void whatRanBeforeAndWhatItStartsIsTheSupervisors() {
        assertEquals(Actor.SUPERVISOR, see(FrameType.RUNNING, 1, ROOT, 0));
        assertEquals(Actor.SUPERVISOR, see(FrameType.FORK, 10, ROOT, 1));
        assertEquals(Actor.SUPERVISOR, see(FrameType.EXEC, 10, ROOT, 1));
        assertEquals(Actor.SUPERVISOR, see(FrameType.FORK, 11, ROOT, 10));
    }

    @Test
    void theAgentIsWhoeverWasInItsGroupAndWhatDescendsFromIt() {
        see(FrameType.RUNNING, 1, ROOT, 0);
        assertEquals(Actor.SUPERVISOR, see(FrameType.FORK, 20, ROOT, 1));
        assertEquals(Actor.SUPERVISOR, see(FrameType.PRIVILEGE, 20, CGROUP, 0), "it gives up its rights");
        assertEquals(Actor.AGENT, see(FrameType.EXEC, 20, CGROUP, 1));
        assertEquals(Actor.AGENT, see(FrameType.FORK, 21, CGROUP, 20));
    }

    @Test
    void whoLeavesTheGroupStaysTheAgent() {
        see(FrameType.RUNNING, 1, ROOT, 0);
        see(FrameType.FORK, 20, ROOT, 1);
        see(FrameType.EXEC, 20, CGROUP, 1);
        assertEquals(Actor.AGENT, see(FrameType.OPEN, 20, ROOT, 0));
        assertEquals(Actor.AGENT, see(FrameType.FORK, 22, ROOT, 20), "a child that is born outside");
        assertEquals(Actor.AGENT, see(FrameType.FORK, 23, 99, 22));
        assertEquals(Actor.AGENT, see(FrameType.OPEN, 23, 99, 1), "adopted by the guest's first process");
    }

    @Test
    void aProcessOfWhichNobodyHeardBeforeIsNobodys() {
        see(FrameType.RUNNING, 1, ROOT, 0);
        assertNull(see(FrameType.OPEN, 30, ROOT, 0), "its fork was lost");
        assertNull(see(FrameType.FORK, 32, ROOT, 31), "its parent's was");
        assertEquals(Actor.AGENT, see(FrameType.OPEN, 32, CGROUP, 0));
    }

    @Test
    void withoutAKnownGroupNothingIsKnown() {
        var none = new ProcessTable(0);
        var frame = new Frame(FrameType.RUNNING.code(), 0, 0, 1, 1, 1, 1, 1, 0, 0, List.of());
        none.of(frame);
        assertNull(none.actor(frame));
    }
}
