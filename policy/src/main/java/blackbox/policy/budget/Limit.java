package blackbox.policy.budget;

import java.math.BigDecimal;

/// What a budget limits, each in the unit in which it is counted.
public enum Limit {
    /// HTTP requests, and connections that are not HTTP.
    REQUESTS("requests", "requests"),
    /// Octets that the guest received, without TLS; of HTTP those of heads, bodies and trailers.
    BYTES_IN("bytesIn", "octets received"),
    /// Octets that the guest sent, counted likewise.
    BYTES_OUT("bytesOut", "octets sent"),
    /// Seconds since the rule was first used.
    SECONDS("seconds", "seconds"),
    /// Tokens of models, read and written, as their answers say; see `schemas/policy.md` for those that do not.
    TOKENS("tokens", "tokens"),
    /// Millionths of a US dollar.
    USD("usd", "US dollars");

    /// Microdollars in a dollar.
    public static final long MICROS = 1_000_000;

    private final String key;
    private final String words;

    Limit(String key, String words) {
        this.key = key;
        this.words = words;
    }

    /// As a policy writes it.
    public String key() {
        return key;
    }

    /// An amount with its unit.
    String words(long amount) {
        return this == USD
                ? BigDecimal.valueOf(amount, 6).stripTrailingZeros().toPlainString() + " " + words
                : amount + " " + words;
    }
}
