package blackbox.evidence.sides;

import blackbox.schemas.event.Finding;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// How far the guest's tracer has told what happened, and whether some of that may be missing.
///
/// The tracer's ring keeps the order of what is put into it, and each CPU's heartbeat, every second, has the number of
/// the last frame before it. So once every CPU has sent a heartbeat later than some moment, what the guest saw before
/// that moment has arrived, or is known to be lost.
final class GuestStream {

    /// Where a recorder's own names end: numbers are missing that were neither declared lost nor have come.
    static final String LOSS_OPEN = "LOSS_OPEN";

    static final String LOSS_DECLARED = "LOSS_DECLARED";

    private static final int CPUS_MAX = 4_096;

    /// A loss is declared after the moment at which it happened, and the guest's clock is not quite the host's.
    private static final long MARGIN_NS = 1_000_000_000;

    private final Map<Long, Cpu> cpus = new HashMap<>();
    private long missing;
    private long lossNs = Long.MIN_VALUE;
    private @Nullable String broken;
    private boolean silent;

    private static final class Cpu {
        private long last;
        private long missing;
        private long heardNs = Long.MIN_VALUE;

        /// Accounts for a number; how many more are missing now, below 0 if some came late.
        long take(long seq) {
            long more = 0;
            if (seq > last + 1 && last > 0) {
                more = seq - last - 1;
            } else if (seq <= last && missing > 0) {
                more = -1;
            }
            last = Math.max(last, seq);
            missing += more;
            return more;
        }

        long declare(long lost) {
            long fewer = Math.min(lost, missing);
            missing -= fewer;
            return fewer;
        }
    }

    /// Takes a row of the guest's.
    void heard(Row row, long kind, long atNs) {
        if (!row.has(Column.CPU) || !row.has(Column.CPU_SEQ)) {
            return;
        }
        long number = row.number(Column.CPU);
        Cpu cpu = cpus.get(number);
        if (cpu == null) {
            if (cpus.size() >= CPUS_MAX) {
                return; // such numbers are a finding of the recorder's
            }
            cpu = new Cpu();
            cpus.put(number, cpu);
        }
        missing += cpu.take(row.number(Column.CPU_SEQ));
        if (kind == Kind.TRACER_HEARTBEAT.code()) {
            cpu.heardNs = Math.max(cpu.heardNs, atNs);
        }
    }

    /// Takes a loss that the recorder declared.
    ///
    /// @param cpu whose numbers are given up; null if they are not known
    void lost(long lost, @Nullable Long cpu, long nowNs) {
        lossNs = Math.max(lossNs, nowNs);
        Cpu known = cpu == null ? null : cpus.get(cpu);
        if (known != null) {
            missing -= known.declare(Math.max(0, lost));
        }
    }

    /// Takes a finding of the recorder's; null for one that this version does not know.
    void found(@Nullable Finding finding, String name) {
        if (finding == Finding.GUEST_SILENT) {
            silent = true;
        } else if (finding == Finding.GUEST_BACK) {
            silent = false;
        } else if (broken == null && (finding == null || finding.leavesUnknown())) {
            broken = name;
        }
    }

    /// Whether everything that the guest saw before a moment has arrived, or never will.
    boolean hasPassed(long atNs) {
        boolean heard = false;
        for (Cpu cpu : cpus.values()) {
            if (cpu.heardNs != Long.MIN_VALUE) {
                heard = true;
                if (cpu.heardNs < atNs) {
                    return false;
                }
            }
        }
        return heard;
    }

    /// Why what is missing of a moment, by now, may only have been lost; null if it was not.
    @Nullable
    String unknown(long atNs) {
        if (broken != null) {
            return broken;
        }
        if (silent) {
            return Finding.GUEST_SILENT.name();
        }
        if (missing > 0) {
            return LOSS_OPEN;
        }
        return lossNs >= atNs - MARGIN_NS ? LOSS_DECLARED : null;
    }
}
