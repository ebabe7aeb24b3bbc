package blackbox.gateway.stack;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Set;

/// What all connections together hold in memory. When that is at its limit, those that already hold something take no
/// more, in either direction, until a quarter of it is free. Owned by the loop.
final class BufferBudget {
    /// What each connection may hold in any case, so that none stands still for others.
    static final int SHARE_OCTETS = 4 << 10;

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
