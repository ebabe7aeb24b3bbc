package blackbox.vm.machine;

import java.util.Locale;

/// The requested tier of a recording.
public enum TierOption {
    /// Exact if that costs little, which is when the guest is emulated anyway; otherwise live.
    AUTO,
    /// Live, whatever the machine can do.
    LIVE,
    /// Exact, or no recording at all.
    EXACT;

    /// The word on the command line and in a run's first leaf.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
