package blackbox.query.answer;

import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Gathers changes of credentials and uses of privileged interfaces; identical ones are counted, not listed.
final class PrivilegeCollector {

    static final int USES_MAX = 10_000;

    private final Map<Key, long[]> uses = new LinkedHashMap<>();
    private boolean ioUring;
    private final Room room;
    private long unkept;

    private record Key(
            String what, @Nullable String subject, @Nullable String comm, boolean refused) {}

    PrivilegeCollector(Room room) {
        this.room = room;
    }

    void see(EventView event, long index) {
        switch (event) {
            case PrivilegeView.Credentials change -> credentials(change, index);
            case PrivilegeView.Use use -> use(use, index);
            case ProcessView _, FileView _, NetView _, RecorderView _, VmView _, RunView _, EventView.Unknown _ -> {}
        }
    }

    private void credentials(PrivilegeView.Credentials change, long index) {
        change(change, change.uid(), change.uidTo(), "uid", index);
        change(change, change.gid(), change.gidTo(), "gid", index);
        long gained = change.capabilitiesGained();
        if (gained != 0) {
            count(change, "capabilities", "gained " + Capabilities.names(gained), index);
        }
    }

    private void change(EventView event, @Nullable Long from, @Nullable Long to, String what, long index) {
        if (from != null && to != null && !from.equals(to)) {
            count(event, what, from + " to " + to, index);
        }
    }

    private void use(PrivilegeView.Use use, long index) {
        String what = use.what() == null ? "unknown" : String.valueOf(use.what());
        ioUring |= what.startsWith("io_uring");
        count(use, what, use.path() == null ? null : String.valueOf(use.path()), index);
    }

    private void count(EventView event, String what, @Nullable String subject, long index) {
        String comm = event.comm() == null ? null : String.valueOf(event.comm());
        var key = new Key(what, subject, comm, event.failed());
        if (!uses.containsKey(key) && !room.take()) {
            unkept++;
            return;
        }
        uses.computeIfAbsent(key, _ -> new long[] {index, 0})[1]++;
    }

    List<Touched.PrivilegeUse> privileges() {
        var privileges = new ArrayList<Touched.PrivilegeUse>();
        uses.forEach((key, seen) -> privileges.add(
                new Touched.PrivilegeUse(key.what, key.subject, key.comm, seen[0], seen[1], key.refused)));
        return privileges;
    }

    List<String> limits() {
        var limits = new ArrayList<String>();
        if (ioUring) {
            limits.add("io_uring was used; reads and writes submitted through it may not have been seen");
        }
        if (unkept > 0) {
            limits.add("only " + room.most() + " different uses of privileges are listed; " + unkept
                    + " events were of other uses");
        }
        return limits;
    }
}
