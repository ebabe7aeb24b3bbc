package blackbox.gateway.egress;

import org.jspecify.annotations.Nullable;

/// What a [Passage] says of what is about to pass.
///
/// @param stage at which; null for that of the request, or of the connection
/// @param what as in [Decision#what]; null with `stage`
/// @param status what a client of HTTP hears that is stopped
/// @param json what it reads then; null for the gateway's own words
public record Ruling(
        Verdict verdict,
        Decision.@Nullable Stage stage,
        @Nullable String what,
        int status,
        @Nullable String json) {

    /// A budget is spent.
    public static final int TOO_MANY_REQUESTS = 429;

    /// One about a budget.
    public static Ruling budget(Verdict verdict) {
        return new Ruling(verdict, null, null, TOO_MANY_REQUESTS, null);
    }

    /// Whether it stops what it is about.
    public boolean stops() {
        return !verdict.allowed();
    }
}
