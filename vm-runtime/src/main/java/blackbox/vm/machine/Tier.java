package blackbox.vm.machine;

import java.util.Locale;

/// How faithfully a run can be replayed. It is fixed when the run is recorded.
public enum Tier {
    /// Full speed. A replay executes the same inputs again; what depends on timing may come out differently.
    LIVE,
    /// Every instruction is counted and everything from outside is logged at its instruction: a replay
    /// executes the same instructions. One processor, emulated, several times slower.
    EXACT;

    /// The word in a run's first leaf: `live` or `exact`.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
