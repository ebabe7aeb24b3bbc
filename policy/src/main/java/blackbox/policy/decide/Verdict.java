package blackbox.policy.decide;

/// What a policy says.
public enum Verdict {
    ALLOW("allow"),
    DENY("deny"),
    /// It is let through because the policy only observes.
    WOULD_DENY("would-deny");

    private final String word;

    Verdict(String word) {
        this.word = word;
    }

    /// As records and commands write it.
    public String word() {
        return word;
    }
}
