package blackbox.query.verify;

import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.util.Arrays;

/// Counts the guest's events that are missing by their per-CPU sequence numbers.
final class SequenceCheck {

    private static final int CPUS_MAX = 4_096;

    private long[] last = new long[0];
    private long missing;

    void see(Row row) {
        if (!row.has(Column.CPU) || !row.has(Column.CPU_SEQ)) {
            return;
        }
        int cpu = (int) row.number(Column.CPU);
        if (cpu < 0 || cpu >= CPUS_MAX) {
            return;
        }
        if (cpu >= last.length) {
            last = Arrays.copyOf(last, cpu + 1);
        }
        long sequence = row.number(Column.CPU_SEQ);
        if (last[cpu] == 0 || sequence > last[cpu]) {
            missing += last[cpu] == 0 ? 0 : sequence - last[cpu] - 1;
            last[cpu] = sequence;
        } else if (missing > 0 && sequence < last[cpu]) {
            missing--;
        }
    }

    /// How many numbers between the first and the last of each CPU were never seen.
    long missing() {
        return missing;
    }
}
