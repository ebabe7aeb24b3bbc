package blackbox.recorder.guest;

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

    /// Runs of probes that the kernel skipped, over all CPUs; they have no sequence number.
    static long misses(Frame heartbeat) {
        Tlv counters = heartbeat.find(TlvType.COUNTERS);
        return counters == null ? 0 : Math.max(0, counters.u64(8 * (NAMES.length - 1)));
    }

    /// The counters as JSON, those of frame types only where something was dropped.
    static @Nullable String json(Frame heartbeat) {
        Tlv counters = heartbeat.find(TlvType.COUNTERS);
        if (counters == null) {
            return null;
        }
        var json = new StringBuilder("{");
        for (int i = 0; i < NAMES.length; i++) {
            json.append('"')
                    .append(NAMES[i])
                    .append("\":")
                    .append(counters.u64(8 * i))
                    .append(',');
        }
        json.append("\"dropped\":{");
        String separator = "";
        for (int code = 0; code < TYPES_MAX; code++) {
            long dropped = counters.u64(8 * (NAMES.length + code));
            FrameType type = FrameType.ofCode(code);
            if (dropped != 0) {
                String name =
                        type == null ? Integer.toString(code) : type.name().toLowerCase(Locale.ROOT);
                json.append(separator).append('"').append(name).append("\":").append(dropped);
                separator = ",";
            }
        }
        return json.append("},\"final\":")
                .append(heartbeat.is(Frame.FINAL))
                .append('}')
                .toString();
    }
}
