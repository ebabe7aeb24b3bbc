package blackbox.recorder.guest;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Accounts for every sequence number of every CPU. A gap is a loss; because a softirq may emit between a
/// frame's number and its output, a gap counts only when it has not been filled within [#PATIENCE] frames.
///
/// The guest chooses the numbers, so what a frame costs must not depend on them: gaps of its own CPU are looked at,
/// from the oldest on, and each is settled once. A frame leaves at most one gap more, so that a CPU never has more
/// than [#PATIENCE]. Owned by one thread.
final class SequenceLedger {

    /// The number of frames of a CPU after which a missing number will not arrive anymore.
    static final int PATIENCE = 64;

    /// A forward jump of more than this is taken as a false number, not as a loss.
    static final long JUMP_MAX = 1L << 40;

    /// Numbers of one CPU that never arrived, `from` to `to` inclusive.
    record Gap(int cpu, long from, long to) {
        long count() {
            return to - from + 1;
        }
    }

    /// What a frame's number means.
    enum SequenceCheck {
        /// The next one, or one that fills a gap.
        EXPECTED,
        /// A number that was seen before.
        REPEATED,
        /// An impossible jump, or a number of a CPU that the guest does not have.
        IMPOSSIBLE
    }

    /// Missing numbers up to `to`, noticed with the CPU's frame of that number.
    private record Missing(long to, long noticed) {}

    private static final class Cpu {
        private long last;
        private long frames;

        /// First missing number to the rest of its range. What is noticed later has higher numbers, so that the first
        /// is always the oldest.
        private final TreeMap<Long, Missing> missing = new TreeMap<>();

        Cpu(long last) {
            this.last = last;
        }
    }

    private final Map<Integer, Cpu> cpus = new TreeMap<>();
    private final boolean known;
    private long steps;

    /// @param stood where each CPU's numbers were before the run's first frame; empty if that is not known, and then
    ///     there may be any CPU, and its numbers begin at 1
    SequenceLedger(List<Long> stood) {
        known = !stood.isEmpty();
        for (int cpu = 0; cpu < stood.size(); cpu++) {
            cpus.put(cpu, new Cpu(stood.get(cpu)));
        }
    }

    private @Nullable Cpu of(int number) {
        return known ? cpus.get(number) : cpus.computeIfAbsent(number, _ -> new Cpu(0));
    }

    /// Accounts for the number of a frame.
    SequenceCheck take(int number, long seq) {
        Cpu cpu = of(number);
        if (cpu == null) {
            return SequenceCheck.IMPOSSIBLE;
        }
        cpu.frames++;
        if (seq == cpu.last + 1) {
            cpu.last = seq;
            return SequenceCheck.EXPECTED;
        }
        if (seq <= cpu.last) {
            return fill(cpu, seq) ? SequenceCheck.EXPECTED : SequenceCheck.REPEATED;
        }
        if (seq - cpu.last > JUMP_MAX) {
            return SequenceCheck.IMPOSSIBLE;
        }
        cpu.missing.put(cpu.last + 1, new Missing(seq - 1, cpu.frames));
        cpu.last = seq;
        return SequenceCheck.EXPECTED;
    }

    private boolean fill(Cpu cpu, long seq) {
        steps++;
        Map.Entry<Long, Missing> gap = cpu.missing.floorEntry(seq);
        if (gap == null || gap.getValue().to() < seq) {
            return false;
        }
        long from = gap.getKey();
        long to = gap.getValue().to();
        long noticed = gap.getValue().noticed();
        cpu.missing.remove(from);
        if (from < seq) {
            cpu.missing.put(from, new Missing(seq - 1, noticed));
        }
        if (seq < to) {
            cpu.missing.put(seq + 1, new Missing(to, noticed));
        }
        return true;
    }

    /// Gaps of a CPU that will not be filled anymore, to be asked for after each of its frames; each is returned once.
    List<Gap> settled(int number) {
        Cpu cpu = cpus.get(number);
        return cpu == null || cpu.missing.isEmpty() ? List.of() : settled(number, cpu, PATIENCE);
    }

    /// All remaining gaps, when no more frames will arrive.
    List<Gap> close() {
        var gaps = new ArrayList<Gap>();
        cpus.forEach((number, cpu) -> gaps.addAll(settled(number, cpu, 0)));
        return gaps;
    }

    private List<Gap> settled(int number, Cpu cpu, long patience) {
        var gaps = new ArrayList<Gap>();
        Map.Entry<Long, Missing> oldest = cpu.missing.firstEntry();
        steps++;
        while (oldest != null && cpu.frames - oldest.getValue().noticed() >= patience) {
            gaps.add(new Gap(number, oldest.getKey(), oldest.getValue().to()));
            cpu.missing.remove(oldest.getKey());
            oldest = cpu.missing.firstEntry();
            steps++;
        }
        return gaps;
    }

    /// How often a gap was looked at so far: what the frames cost, apart from a search among [#PATIENCE] gaps.
    long steps() {
        return steps;
    }
}
