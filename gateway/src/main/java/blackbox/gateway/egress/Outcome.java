package blackbox.gateway.egress;

/// What becomes of what was asked.
public enum Outcome {
    ALLOW("allow"),
    /// It goes on, although the policy is against it: it only observes.
    WOULD_DENY("would-deny"),
    DENY("deny"),
    /// It does not, because a budget is spent.
    BUDGET("budget");

    private final String word;

    Outcome(String word) {
        this.word = word;
    }

    /// As it is recorded.
    public String word() {
        return word;
    }

    /// Whether it goes on.
    public boolean goesOn() {
        return this == ALLOW || this == WOULD_DENY;
    }
}
