package blackbox.evidence.verify;

import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Accounts for every sequence number of every guest CPU: from the number that the tracer reported at its
/// start, or else from the first one seen, up to the last.
final class SequenceCheck {

    private static final int CPUS_MAX = 4_096;

    /// A forward jump of more than this is taken as a false number and not as a loss, as in the recorder.
    private static final long JUMP_MAX = 1L << 40;

    /// Ranges of missing numbers that are remembered in case they arrive late; beyond this limit they stay
    /// missing.
    private static final int GAPS_MAX = 65_536;

    private @Nullable Cpu[] cpus = new Cpu[0];
    private int gaps;
    private long missing;

    /// One CPU's numbers.
    private static final class Cpu {
        long last;

        /// First missing number to last missing number.
        final TreeMap<Long, Long> missing = new TreeMap<>();

        Cpu(long last) {
            this.last = last;
        }
    }

    /// Takes a row in the run's order.
    void see(Row row) {
        if (row.has(Column.CPU) && row.has(Column.CPU_SEQ)) {
            long cpu = row.number(Column.CPU);
            if (cpu >= 0 && cpu < CPUS_MAX) {
                take((int) cpu, row.number(Column.CPU_SEQ));
            }
        } else if (row.number(Column.KIND) == Kind.TRACER_READY.code() && row.has(Column.DETAIL)) {
            begin(LeafDetail.cpuSequences(row.text(Column.DETAIL).toString(), CPUS_MAX));
        }
    }

    private void begin(long[] stood) {
        for (int cpu = 0; cpu < stood.length; cpu++) {
            if (cpu >= cpus.length || cpus[cpu] == null) {
                room(cpu);
                cpus[cpu] = new Cpu(Math.max(0, stood[cpu]));
            }
        }
    }

    private void take(int number, long sequence) {
        room(number);
        Cpu cpu = cpus[number];
        if (cpu == null) {
            cpus[number] = new Cpu(sequence);
        } else if (sequence == cpu.last + 1) {
            cpu.last = sequence;
        } else if (sequence <= cpu.last) {
            fill(cpu, sequence);
        } else if (sequence - cpu.last <= JUMP_MAX) {
            missing += sequence - cpu.last - 1;
            if (gaps < GAPS_MAX) {
                gaps++;
                cpu.missing.put(cpu.last + 1, sequence - 1);
            }
            cpu.last = sequence;
        }
    }

    private void room(int cpu) {
        if (cpu >= cpus.length) {
            cpus = Arrays.copyOf(cpus, cpu + 1);
        }
    }

    /// A number that arrives late; a repeated one changes nothing.
    private void fill(Cpu cpu, long sequence) {
        Map.Entry<Long, Long> gap = cpu.missing.floorEntry(sequence);
        if (gap == null || gap.getValue() < sequence) {
            return;
        }
        missing--;
        gaps--;
        cpu.missing.remove(gap.getKey());
        keep(cpu, gap.getKey(), sequence - 1);
        keep(cpu, sequence + 1, gap.getValue());
    }

    private void keep(Cpu cpu, long from, long to) {
        if (from <= to) {
            gaps++;
            cpu.missing.put(from, to);
        }
    }

    /// How many numbers were never seen.
    long missing() {
        return missing;
    }
}
