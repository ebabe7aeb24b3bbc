package blackbox.schemas.event;

import blackbox.schemas.row.Text;
import org.jspecify.annotations.Nullable;

/// The process an event is about. A pid is reused; pid and start together are not, within one boot.
///
/// @param pid thread group id
/// @param tid thread id; equal to `pid` for the main thread
/// @param ppid the parent's pid, null where it is not known
/// @param startNs start of the process on the guest's boot clock, nanoseconds
/// @param comm task name, null where it is not known
/// @param uid real user id, null where it is not known
public record ProcessRef(
        int pid,
        int tid,
        @Nullable Integer ppid,
        long startNs,
        @Nullable Text comm,
        @Nullable Integer uid) {

    public ProcessRef {
        if (pid < 0 || tid < 0 || startNs < 0) {
            throw new IllegalArgumentException("a process has no negative pid, tid or start");
        }
    }
}
