package blackbox.vm.machine;

import java.util.Locale;

/// Which tier a recording is asked to be of.
public enum TierOption {
    /// Exact where that costs little, which is where the guest is emulated anyway; else live.
    AUTO,
    /// Live, whatever the machine can do.
    LIVE,
    /// Exact, or no recording at all.
    EXACT;

    /// As on the command line and in a run's first leaf.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
