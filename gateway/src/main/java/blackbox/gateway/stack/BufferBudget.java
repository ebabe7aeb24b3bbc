package blackbox.gateway.stack;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Set;

/// What all connections together hold in memory. When that is at its limit, those that already hold something take no
/// more, in either direction, until a quarter of it is free. Owned by the loop.
final class BufferBudget {
    /// What each connection may hold in any case, so that none stands still for others.
    static final int SHARE_OCTETS = 4 << 10;

    private static final int IN_FLIGHT_OCTETS_MIN = 64 << 10;
    private static final int IN_FLIGHT_OCTETS_MAX = 256 << 10;

    private final long octetsMax;
    private long octets;
    private long mostOctets;
    private final Set<Runnable> waiting = new LinkedHashSet<>();

    BufferBudget(long octetsMax) {
        this.octetsMax = octetsMax;
    }

    void change(long difference) {
        octets += difference;
        mostOctets = Math.max(mostOctets, octets);
        if (difference < 0 && !waiting.isEmpty() && octets < octetsMax / 4 * 3) {
            var ready = new ArrayList<>(waiting);
            waiting.clear();
            ready.forEach(Runnable::run);
        }
    }

    /// How much more one may hold that holds this much.
    int room(long held) {
        return octets < octetsMax ? Integer.MAX_VALUE : (int) Math.max(0, SHARE_OCTETS - held);
    }

    /// How much each of so many connections may have in flight. A round trip takes some milliseconds where the
    /// guest is emulated, so a few have more; all that were opened while there were few are bounded, too.
    int inFlightMax(int connections) {
        return Math.clamp(octetsMax / 4 / Math.max(1, connections), IN_FLIGHT_OCTETS_MIN, IN_FLIGHT_OCTETS_MAX);
    }

    /// Calls it once when there is room again.
    void await(Runnable resume) {
        waiting.add(resume);
    }

    void forget(Runnable resume) {
        waiting.remove(resume);
    }

    long octets() {
        return octets;
    }

    long mostOctets() {
        return mostOctets;
    }
}
