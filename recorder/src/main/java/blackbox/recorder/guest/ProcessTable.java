package blackbox.recorder.guest;

import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.row.Text;
import blackbox.schemas.wire.Frame;
import blackbox.schemas.wire.Tlv;
import blackbox.schemas.wire.TlvType;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What frames have reported about processes, so that later frames of a process can be shown with its name
/// and parent. Bounded: the process without a frame for the longest time is forgotten first. Owned by one
/// thread.
final class ProcessTable {

    private static final int PROCESSES_MAX = 65_536;

    private record Key(int pid, long startNs) {}

    private record Known(
            @Nullable Text comm,
            @Nullable Integer ppid,
            @Nullable Integer uid) {}

    private final Map<Key, Known> processes = new LinkedHashMap<>(1024, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Known> eldest) {
            return size() > PROCESSES_MAX;
        }
    };

    /// The process of `frame`, after learning what the frame itself says about it; null if the frame names
    /// none.
    @Nullable
    ProcessRef of(Frame frame) {
        if (frame.tgid() == 0) {
            return null;
        }
        var key = new Key(frame.tgid(), frame.startNs());
        Known known = processes.get(key);
        Known now = learn(frame, known);
        if (now != null && !now.equals(known)) {
            processes.put(key, now);
        }
        return now == null
                ? new ProcessRef(frame.tgid(), frame.tid(), null, frame.startNs(), null, null)
                : new ProcessRef(frame.tgid(), frame.tid(), now.ppid(), frame.startNs(), now.comm(), now.uid());
    }

    private static @Nullable Known learn(Frame frame, @Nullable Known known) {
        Tlv comm = frame.find(TlvType.COMM);
        Tlv parent = frame.find(TlvType.PARENT);
        Tlv cred = frame.findSecond(TlvType.CRED) == null ? frame.find(TlvType.CRED) : frame.findSecond(TlvType.CRED);
        if (comm == null && parent == null && cred == null) {
            return known;
        }
        Text name = comm == null || comm.is(Tlv.FAULT) ? (known == null ? null : known.comm()) : name(comm);
        Integer ppid = parent == null ? (known == null ? null : known.ppid()) : number(parent.u64(0));
        Integer uid = cred == null || cred.is(Tlv.FAULT) ? (known == null ? null : known.uid()) : number(cred.u32(0));
        return new Known(name, ppid, uid);
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
