package blackbox.vm.machine;

/// Which tier a recording is of, and why. Sealed in the run's first leaf.
///
/// @param asked what was asked for
/// @param tier what it is
/// @param reason in words that complete "recorded in this tier: …"; what could be mended says how
public record TierChoice(TierOption asked, Tier tier, String reason) {
    public TierChoice {
        boolean keptToIt = switch (asked) {
            case AUTO -> true;
            case LIVE -> tier == Tier.LIVE;
            case EXACT -> tier == Tier.EXACT;
        };
        if (!keptToIt) {
            throw new IllegalArgumentException("a recording that was asked to be " + asked + " is not " + tier);
        }
    }
}
