package blackbox.recorder.guest;

import blackbox.recorder.Detail;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.row.Text;
import blackbox.schemas.wire.TlvType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a SIGNAL frame says.
final class Signals {

    /// By number, as Linux has them on x86.
    private static final List<String> NAMES = List.of(
            "", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
            "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM",
            "PROF", "WINCH", "IO", "PWR", "SYS");

    private static final int REAL_TIME_MIN = 34;

    private Signals() {}

    static Event event(EventHeader header, FrameFields fields) {
        long first = fields.number(0);
        int signal = (int) first;
        Detail detail = Detail.of("pid", fields.number(1)).and("startNs", fields.number(2));
        @Nullable Text name = fields.text(TlvType.NAME, "name");
        if (name != null) {
            detail.and("name", name.toString());
        }
        if (first >>> 32 != 0) {
            detail.and("by", "kernel");
        }
        return new Event.ProcessSignal(header, signal, name(signal), detail.toString());
    }

    private static String name(int signal) {
        if (signal > 0 && signal < NAMES.size()) {
            return "SIG" + NAMES.get(signal);
        }
        return signal >= REAL_TIME_MIN ? "SIGRTMIN+" + (signal - REAL_TIME_MIN) : "signal " + signal;
    }
}
