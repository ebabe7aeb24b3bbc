package blackbox.recorder.guest;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Accounts for every sequence number of every CPU. A gap is a loss; because a softirq may emit between a
/// frame's number and its output, a gap counts only when it has not been filled within [#PATIENCE] frames.
/// Owned by one thread.
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
        /// An impossible jump.
        IMPOSSIBLE
    }

    private static final class Cpu {
        long last;
        /// First missing number to [last missing number, `last` when it was noticed].
        final TreeMap<Long, long[]> missing = new TreeMap<>();
    }

    private final Map<Integer, Cpu> cpus = new TreeMap<>();

    /// Sets where a CPU's numbers are before the run's first frame.
    void begin(int cpu, long last) {
        of(cpu).last = last;
    }

    private Cpu of(int cpu) {
        return cpus.computeIfAbsent(cpu, _ -> new Cpu());
    }

    /// Accounts for the number of a frame.
    SequenceCheck take(int number, long seq) {
        Cpu cpu = of(number);
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
        cpu.missing.put(cpu.last + 1, new long[] {seq - 1, seq});
        cpu.last = seq;
        return SequenceCheck.EXPECTED;
    }

    private static boolean fill(Cpu cpu, long seq) {
        Map.Entry<Long, long[]> gap = cpu.missing.floorEntry(seq);
        if (gap == null || gap.getValue()[0] < seq) {
            return false;
        }
        long from = gap.getKey();
        long to = gap.getValue()[0];
        long noticed = gap.getValue()[1];
        cpu.missing.remove(from);
        if (from < seq) {
            cpu.missing.put(from, new long[] {seq - 1, noticed});
        }
        if (seq < to) {
            cpu.missing.put(seq + 1, new long[] {to, noticed});
        }
        return true;
    }

    /// Gaps that will not be filled anymore; each is returned once.
    List<Gap> settled() {
        return settled(PATIENCE);
    }

    /// All remaining gaps, when no more frames will arrive.
    List<Gap> close() {
        return settled(0);
    }

    private List<Gap> settled(long patience) {
        List<Gap> gaps = null;
        for (var entry : cpus.entrySet()) {
            Cpu cpu = entry.getValue();
            if (cpu.missing.isEmpty()) {
                continue;
            }
            for (Iterator<Map.Entry<Long, long[]>> i = cpu.missing.entrySet().iterator(); i.hasNext(); ) {
                Map.Entry<Long, long[]> gap = i.next();
                if (cpu.last - gap.getValue()[1] >= patience) {
                    gaps = gaps == null ? new ArrayList<>() : gaps;
                    gaps.add(new Gap(entry.getKey(), gap.getKey(), gap.getValue()[0]));
                    i.remove();
                }
            }
        }
        return gaps == null ? List.of() : gaps;
    }
}
