package blackbox.recorder.guest;

import blackbox.recorder.Detail;
import blackbox.schemas.wire.Frame;
import blackbox.schemas.wire.FrameType;
import blackbox.schemas.wire.Tlv;
import blackbox.schemas.wire.TlvType;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Reads the tracer's counters from a heartbeat.
final class Counters {

    private static final String[] NAMES = {
        "seq", "emitted", "bytes", "reserve", "full", "stashFull", "tableFull", "misses"
    };
    private static final int TYPES_MAX = 96;

    private Counters() {}

    /// Probe executions that the kernel skipped, over all CPUs; they have no sequence number.
    static long misses(Frame heartbeat) {
        Tlv counters = heartbeat.find(TlvType.COUNTERS);
        return counters == null ? 0 : Math.max(0, counters.u64(8 * (NAMES.length - 1)));
    }

    /// The counters as JSON; those of frame types only if something was dropped.
    static @Nullable String json(Frame heartbeat) {
        Tlv counters = heartbeat.find(TlvType.COUNTERS);
        if (counters == null) {
            return null;
        }
        var dropped = Detail.empty();
        for (int code = 0; code < TYPES_MAX; code++) {
            long count = counters.u64(8 * (NAMES.length + code));
            if (count != 0) {
                FrameType type = FrameType.ofCode(code);
                dropped.and(type == null ? Integer.toString(code) : type.name().toLowerCase(Locale.ROOT), count);
            }
        }
        var json = Detail.empty();
        for (int i = 0; i < NAMES.length; i++) {
            json.and(NAMES[i], counters.u64(8 * i));
        }
        return json.and("dropped", dropped)
                .and("final", heartbeat.is(Frame.FINAL))
                .toString();
    }
}
