package blackbox.evidence.sides;

import java.util.LinkedHashMap;
import java.util.Map;

/// A map that keeps what was used last.
final class Recent<V> extends LinkedHashMap<Ends, V> {
    private static final long serialVersionUID = 1L;
    private static final float LOAD = 0.75f;

    private final int most;
    private boolean forgot;

    Recent(int most) {
        super(16, LOAD, true);
        this.most = most;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<Ends, V> eldest) {
        boolean full = size() > most;
        forgot |= full;
        return full;
    }

    /// Whether it ever had more than it keeps.
    boolean hasForgotten() {
        return forgot;
    }
}
