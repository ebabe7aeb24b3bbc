package blackbox.bench.subject;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A flood that a guest makes: a function of `floods.py`.
///
/// @param name of that function
/// @param tier of the recording
/// @param count after how many it ends, 0 if only its time ends it
/// @param network whether it needs one
/// @param made counts in the table what it has made, as SQL without its run; null where that is no event
/// @param completeness what `verify` may say of it
public record Flood(
        String name,
        String tier,
        long count,
        boolean network,
        @Nullable String made,
        List<String> completeness) {

    private static final List<String> ACCOUNTED = List.of("COMPLETE", "LOSS_DECLARED");
    private static final List<String> UNKNOWN = List.of("UNKNOWN");

    /// All of them. What only looks like the tracer's, and what breaks the control protocol, leaves unknown
    /// what the guest did; of all others every event is in the record, or counted as lost there.
    public static final List<Flood> ALL = List.of(
            live("console", 0, null, ACCOUNTED),
            live("output", 0, null, ACCOUNTED),
            live("tracer", 0, null, UNKNOWN),
            live("frames", 0, null, UNKNOWN),
            live("strings", 0, null, UNKNOWN),
            new Flood("strings", "exact", 512 << 20, false, null, UNKNOWN),
            live("control", 0, null, ACCOUNTED),
            live("protocol", 0, null, UNKNOWN),
            new Flood("connections", "live", 100_000, true, counting("kind = 'net.connect'"), ACCOUNTED),
            live(
                    "packets",
                    1_000_000,
                    "SELECT sum(packets_out) AS made FROM events WHERE kind = 'net.flow' AND protocol = 'udp'",
                    ACCOUNTED),
            live("files", 1_000_000, counting("kind = 'file.open' AND created AND path LIKE '/var/tmp/%'"), ACCOUNTED),
            live("names", 0, counting("kind = 'file.rename' AND ret = 0"), ACCOUNTED),
            live("blocks", 0, null, ACCOUNTED));

    private static Flood live(String name, long count, @Nullable String made, List<String> completeness) {
        return new Flood(name, "live", count, false, made, completeness);
    }

    private static String counting(String what) {
        return "SELECT count(*) AS made FROM events WHERE " + what;
    }

    /// Its name, with the tier where that is not the live one.
    public String title() {
        return tier.equals("live") ? name : name + " (" + tier + ")";
    }
}
