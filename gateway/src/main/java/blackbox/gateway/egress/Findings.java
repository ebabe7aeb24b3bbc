package blackbox.gateway.egress;

import java.util.EnumMap;
import java.util.Map;

/// Counts findings, and tells a listener of each count that is a power of two, and of the last one. Owned by one
/// thread.
public final class Findings {
    private final GatewayListener listener;
    private final Map<Finding, Count> counts = new EnumMap<>(Finding.class);

    private record Count(long number, boolean told) {}

    public Findings(GatewayListener listener) {
        this.listener = listener;
    }

    /// Counts one.
    public void found(Finding finding, String detail) {
        Count before = counts.get(finding);
        long number = before == null ? 1 : before.number + 1;
        boolean tell = Long.bitCount(number) == 1;
        counts.put(finding, new Count(number, tell));
        if (tell) {
            listener.found(finding, detail, number);
        }
    }

    /// How many there were.
    public long count(Finding finding) {
        Count count = counts.get(finding);
        return count == null ? 0 : count.number;
    }

    /// Tells the totals that have not been told.
    public void finish() {
        counts.forEach((finding, count) -> {
            if (!count.told) {
                listener.found(finding, "in all", count.number);
            }
        });
        counts.clear();
    }
}
