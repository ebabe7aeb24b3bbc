package blackbox.replay.exact;

import blackbox.vm.seek.ReplayEvents;
import java.util.Arrays;

/// Maps a time on the guest's clock to an instruction, by the log of its recording.
///
/// The clock advances by a fixed step with each instruction, and while the guest is idle by as much as the host's
/// does: QEMU reads the host's clock when the guest becomes idle and when it continues, and logs both. Between two
/// events of a tracer this was accurate to four microseconds over ten minutes; nothing may rely on it, because a
/// truncated recording or a machine that was stopped may lack a reading.
///
/// Built by adding the log's events in order. Not thread-safe while it is built.
public final class GuestClock {
    /// What one instruction adds, in nanoseconds.
    private final long instructionNs;

    private long[] positions = new long[64];
    /// How long the guest was idle up to and including each position, in nanoseconds.
    private long[] idleNs = new long[64];
    private int size;

    private boolean reading;
    private long firstNs;
    private long lastNs;

    /// A clock without any events yet.
    ///
    /// @param instructionShift nanoseconds that an instruction takes, as a power of two
    public GuestClock(int instructionShift) {
        this.instructionNs = 1L << instructionShift;
    }

    /// Adds the current event of `log`.
    void add(ReplayEvents log) {
        if (log.kind() == ReplayEvents.HOST_CLOCK) {
            firstNs = reading ? firstNs : log.value();
            lastNs = log.value();
            reading = true;
        } else if (log.kind() == ReplayEvents.INSTRUCTIONS && reading) {
            idle(log.instructions() - log.value(), Math.max(0, lastNs - firstNs));
            reading = false;
        }
    }

    private void idle(long position, long forNs) {
        if (size == positions.length) {
            positions = Arrays.copyOf(positions, 2 * size);
            idleNs = Arrays.copyOf(idleNs, 2 * size);
        }
        positions[size] = position;
        idleNs[size] = (size == 0 ? 0 : idleNs[size - 1]) + forNs;
        size++;
    }

    /// The instruction at which the clock shows `ns` more than at instruction `from`; if the guest is idle then,
    /// the one with which it continues. Both count from the recording's first.
    public long after(long from, long ns) {
        long target = from * instructionNs + idleBefore(from) + ns;
        int low = 0;
        int high = size;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (positions[middle] * instructionNs + idleNs[middle] <= target) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        long instruction = (target - (low == 0 ? 0 : idleNs[low - 1])) / instructionNs;
        return low < size ? Math.min(instruction, positions[low]) : instruction;
    }

    /// How long the guest was idle before an instruction. Idle time at a position comes before the instruction of
    /// that number.
    private long idleBefore(long instruction) {
        int at = Arrays.binarySearch(positions, 0, size, instruction);
        int count = at >= 0 ? at + 1 : -at - 1;
        return count == 0 ? 0 : idleNs[count - 1];
    }
}
