package blackbox.recorder.guest;

import blackbox.schemas.event.Actor;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.row.Text;
import blackbox.schemas.wire.Frame;
import blackbox.schemas.wire.FrameType;
import blackbox.schemas.wire.Tlv;
import blackbox.schemas.wire.TlvType;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What frames have reported about processes, so that later frames of a process can be shown with its name
/// and parent, and with whose act it is. A process is the agent's once it was seen in the agent's control group, and so
/// are its children: leaving the group changes nothing. The supervisor's are those that ran when the tracer began, and
/// their children, until they execute a program in that group: up to there it is the supervisor that makes the agent's
/// first process ready. Bounded: the process without a frame for the longest time is forgotten first. Owned by one
/// thread.
final class ProcessTable {

    private static final int PROCESSES_MAX = 65_536;

    private record Key(int pid, long startNs) {}

    private record Known(
            @Nullable Text comm,
            @Nullable Integer ppid,
            @Nullable Integer uid,
            @Nullable Actor actor) {

        static final Known NOTHING = new Known(null, null, null, null);
    }

    private final long agentCgroup;

    private final Map<Key, Known> processes = new LinkedHashMap<>(1024, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Known> eldest) {
            return size() > PROCESSES_MAX;
        }
    };

    /// @param agentCgroup id of the agent's control group, 0 if it is not known: then nobody knows whose an act is
    ProcessTable(long agentCgroup) {
        this.agentCgroup = agentCgroup;
    }

    /// The process of `frame`, after learning what the frame itself says about it; null if the frame names
    /// none.
    @Nullable
    ProcessRef of(Frame frame) {
        if (frame.tgid() == 0) {
            return null;
        }
        var key = new Key(frame.tgid(), frame.startNs());
        Known known = processes.getOrDefault(key, Known.NOTHING);
        Known now = learn(frame, known);
        if (!now.equals(known)) {
            processes.put(key, now);
        }
        return new ProcessRef(frame.tgid(), frame.tid(), now.ppid(), frame.startNs(), now.comm(), now.uid());
    }

    /// Whose act the frame tells of, once [#of] has learnt from it; null if that is not known.
    @Nullable
    Actor actor(Frame frame) {
        return processes
                .getOrDefault(new Key(frame.tgid(), frame.startNs()), Known.NOTHING)
                .actor();
    }

    private Known learn(Frame frame, Known known) {
        Tlv comm = frame.find(TlvType.COMM);
        Tlv parent = frame.find(TlvType.PARENT);
        Tlv cred = frame.findSecond(TlvType.CRED) == null ? frame.find(TlvType.CRED) : frame.findSecond(TlvType.CRED);
        return new Known(
                comm == null || comm.is(Tlv.FAULT) ? known.comm() : name(comm),
                parent == null ? known.ppid() : number(parent.u64(0)),
                cred == null || cred.is(Tlv.FAULT) ? known.uid() : number(cred.u32(0)),
                actor(frame, known.actor(), parent));
    }

    private @Nullable Actor actor(Frame frame, @Nullable Actor known, @Nullable Tlv parent) {
        if (agentCgroup == 0 || known == Actor.AGENT) {
            return known;
        }
        boolean begun = known == null || frame.type() == FrameType.EXEC.code();
        if (frame.cgroup() == agentCgroup && begun) {
            return Actor.AGENT;
        }
        if (known != null || frame.type() == FrameType.RUNNING.code()) {
            return Actor.SUPERVISOR;
        }
        if (frame.type() != FrameType.FORK.code() || parent == null) {
            return null;
        }
        var maker = new Key((int) parent.u64(0), parent.u64(8));
        return processes.getOrDefault(maker, Known.NOTHING).actor();
    }

    private static Text name(Tlv comm) {
        int length = 0;
        while (length < comm.length() && comm.array()[comm.offset() + length] != 0) {
            length++;
        }
        return Text.copyOf(comm.array(), comm.offset(), length);
    }

    private static @Nullable Integer number(long value) {
        return value >= 0 && value <= Integer.MAX_VALUE ? (int) value : null;
    }
}
