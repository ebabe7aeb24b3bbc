package blackbox.vm.machine;

/// The tier of a recording, and why. Sealed in the run's first leaf.
///
/// @param asked what was requested
/// @param tier what was chosen
/// @param reason in words that complete "recorded in this tier: …"; if the choice can be changed, it says how
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
