package blackbox.recorder.guest;

import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.FindingDetail;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.row.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Counts the events of the agent that say that its disk was full. Owned by the thread that decodes.
final class FullDisk {

    private static final String LIMIT = "disk";
    /// Linux's, negated.
    private static final long ENOSPC = -28;
    /// What is there is not on the disk; a file system in memory can be full, too.
    private static final List<String> ELSEWHERE = List.of("/dev/", "/run/", "/proc/", "/sys/");

    private long events;

    void see(Event event) {
        boolean refused = event instanceof Event.FileOpen open && refused(open.path(), open.ret())
                || event instanceof Event.FileIo io && refused(io.path(), io.ret())
                || event instanceof Event.FileAllocate room && refused(room.path(), room.ret())
                || event instanceof Event.FileChange change && refused(change.path(), change.ret());
        GuestOrigin origin = event.header().origin();
        if (refused && origin != null && origin.actor() != Actor.SUPERVISOR) {
            events++;
        }
    }

    /// What is to be said of it at the stream's end, null if there was room.
    FindingDetail.@Nullable LimitReached finding() {
        return events == 0 ? null : new FindingDetail.LimitReached(LIMIT, events);
    }

    private static boolean refused(@Nullable Text path, @Nullable Long ret) {
        return ret != null
                && ret == ENOSPC
                && (path == null || ELSEWHERE.stream().noneMatch(path.toString()::startsWith));
    }
}
