package blackbox.evidence.verify;

import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.view.Counts;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Accounts for every sequence number of every guest CPU: from the number that the tracer reported at its
/// start, or else from the first one seen, up to the last. What a CPU sent last may be lost without a trace
/// until its next frame, at the latest the tracer's next heartbeat, whose number tells: each heartbeat
/// accounts for all numbers of its CPU before it.
final class SequenceCheck {

    private static final int CPUS_MAX = 4_096;

    /// A forward jump of more than this is taken as a false number and not as a loss, as in the recorder.
    private static final long JUMP_MAX = 1L << 40;

    /// Ranges of missing numbers that are remembered in case they arrive late or are declared; beyond this
    /// limit they stay missing.
    private static final int GAPS_MAX = 65_536;

    private @Nullable Cpu[] cpus = new Cpu[0];

    /// Whether the tracer said where its numbers began: those of a CPU that it did not name then begin at 1.
    private boolean begun;

    /// Index of the row after the tracer's report; 0 before it.
    private long beginIndex;

    private int gaps;
    private long missing;
    private long declared;

    /// Where the first range was that is not remembered.
    private long forgottenFrom = Long.MAX_VALUE;

    /// Missing numbers up to `to`; the row before `from` has the number before them.
    private record Gap(long to, long from) {}

    /// One CPU's numbers.
    private static final class Cpu {
        private long last;

        /// Index of the row after the one with [#last].
        private long lastEnd;

        /// Index of the row after the last heartbeat, or after the point from which on its numbers are known.
        private long accountedTo;

        /// Whether the tracer said that it had sent everything.
        private boolean ended;

        /// First missing number to the rest of its range.
        private final TreeMap<Long, Gap> missing = new TreeMap<>();

        Cpu(long last, long from) {
            this.last = last;
            this.lastEnd = from;
            this.accountedTo = from;
        }
    }

    /// Whether the row is of no CPU, or of one that a guest can have.
    static boolean isPossible(Row row) {
        return !row.has(Column.CPU) || row.number(Column.CPU) >= 0 && row.number(Column.CPU) < CPUS_MAX;
    }

    /// Takes a row in the run's order.
    void see(long index, Row row) {
        if (row.has(Column.CPU) && row.has(Column.CPU_SEQ)) {
            long number = row.number(Column.CPU);
            if (number >= 0 && number < CPUS_MAX) {
                Cpu cpu = cpu((int) number, row.number(Column.CPU_SEQ), index);
                take(cpu, row.number(Column.CPU_SEQ), index);
                if (is(row, Kind.TRACER_HEARTBEAT)) {
                    cpu.accountedTo = index + 1;
                    cpu.ended |= row.has(Column.DETAIL)
                            && LeafDetail.isTrue(row.text(Column.DETAIL).toString(), "final");
                }
            }
        } else if (is(row, Kind.TRACER_READY) && row.has(Column.DETAIL)) {
            begin(LeafDetail.cpuSequences(row.text(Column.DETAIL).toString(), CPUS_MAX), index + 1);
        }
    }

    private static boolean is(Row row, Kind kind) {
        return row.has(Column.KIND) && row.number(Column.KIND) == kind.code();
    }

    private void begin(long[] stood, long index) {
        begun |= stood.length > 0;
        beginIndex = beginIndex == 0 ? index : beginIndex;
        for (int cpu = 0; cpu < stood.length; cpu++) {
            if (cpu >= cpus.length || cpus[cpu] == null) {
                room(cpu);
                cpus[cpu] = new Cpu(Math.max(0, stood[cpu]), index);
            }
        }
    }

    private Cpu cpu(int number, long sequence, long index) {
        room(number);
        Cpu cpu = cpus[number];
        if (cpu == null) {
            cpu = begun ? new Cpu(0, index) : new Cpu(sequence - 1, beginIndex);
            cpus[number] = cpu;
        }
        return cpu;
    }

    private void room(int cpu) {
        if (cpu >= cpus.length) {
            cpus = Arrays.copyOf(cpus, cpu + 1);
        }
    }

    private void take(Cpu cpu, long sequence, long index) {
        if (sequence <= cpu.last) {
            fill(cpu, sequence);
            return;
        }
        long skipped = sequence - cpu.last - 1;
        if (skipped >= JUMP_MAX) {
            return;
        }
        if (skipped > 0) {
            missing = Counts.sum(missing, skipped);
            keep(cpu, cpu.last + 1, new Gap(sequence - 1, cpu.lastEnd));
        }
        cpu.last = sequence;
        cpu.lastEnd = index + 1;
    }

    /// A number that arrives late; a repeated one changes nothing.
    private void fill(Cpu cpu, long sequence) {
        missing -= remove(cpu, sequence, sequence);
    }

    /// The recorder has declared these numbers of a CPU, inclusive, lost.
    void declare(long number, long first, long last) {
        Cpu cpu = number >= 0 && number < cpus.length ? cpus[(int) number] : null;
        if (cpu != null) {
            declared = Counts.sum(declared, remove(cpu, first, last));
        }
    }

    /// The recorder has declared so many numbers lost and did not say which.
    void declare(long count) {
        declared = Counts.sum(declared, count);
    }

    /// Takes numbers out of the ranges that are remembered, and returns how many of them were in there.
    private long remove(Cpu cpu, long first, long last) {
        long removed = 0;
        Map.Entry<Long, Gap> entry = cpu.missing.floorEntry(last);
        while (entry != null && entry.getValue().to() >= first) {
            long from = entry.getKey();
            Gap gap = entry.getValue();
            cpu.missing.remove(from);
            gaps--;
            removed += Math.min(last, gap.to()) - Math.max(first, from) + 1;
            keep(cpu, from, new Gap(first - 1, gap.from()));
            keep(cpu, last + 1, gap);
            entry = cpu.missing.lowerEntry(from);
        }
        return removed;
    }

    private void keep(Cpu cpu, long first, Gap gap) {
        if (first > gap.to()) {
            return;
        }
        if (gaps < GAPS_MAX) {
            gaps++;
            cpu.missing.put(first, gap);
        } else {
            forgottenFrom = Math.min(forgottenFrom, gap.from());
        }
    }

    /// Whether no guest ever sent or announced anything.
    boolean isUnused() {
        return cpus.length == 0 && !begun;
    }

    /// How many numbers were never seen.
    long missing() {
        return missing;
    }

    /// How many of them were not declared lost either.
    long undeclared() {
        return Math.max(0, missing - declared);
    }

    /// Index of the event after which the first number is missing that was not declared lost, as far as the
    /// declarations say which they mean.
    long undeclaredFrom() {
        long first = forgottenFrom;
        for (Cpu cpu : cpus) {
            if (cpu != null) {
                for (Gap gap : cpu.missing.values()) {
                    first = Math.min(first, gap.from());
                }
            }
        }
        return first == Long.MAX_VALUE ? 0 : first;
    }

    /// Index of the first event at which not every CPU has accounted for its numbers: each has sent a heartbeat
    /// before it, or began there. What was lost before it is known; it never decreases.
    long accountedTo() {
        long least = Long.MAX_VALUE;
        for (Cpu cpu : cpus) {
            least = cpu == null ? least : Math.min(least, cpu.accountedTo);
        }
        return least == Long.MAX_VALUE ? beginIndex : least;
    }

    /// Whether the tracer said of every CPU that it had sent everything, and said so of one at least.
    boolean ended() {
        boolean ended = false;
        for (Cpu cpu : cpus) {
            if (cpu != null && !cpu.ended) {
                return false;
            }
            ended |= cpu != null;
        }
        return ended;
    }
}
