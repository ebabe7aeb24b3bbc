package blackbox.node.egress;

import blackbox.calls.ModelCall;
import blackbox.calls.Usage;
import blackbox.gateway.egress.HttpExchange;
import blackbox.gateway.egress.HttpExchange.How;
import blackbox.policy.budget.Price;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The tokens that one exchange spent.
///
/// @param tokens of them
/// @param estimated whether the answer does not say all of them, so that they are an upper bound for what it shows
record CallSpending(Price.Count tokens, boolean estimated) {

    /// How many tokens a call spends at least, for as long as it is not known: it may be broken off before its answer,
    /// and is paid for all the same.
    static final long UNKNOWN_TOKENS = 32_768;

    static final CallSpending NONE = new CallSpending(new Price.Count(0, 0), false);

    private static final int FIRST_ERROR = 400;
    private static final Set<String> WITHOUT_BODY = Set.of("GET", "HEAD", "OPTIONS");

    /// Only where no server could read the path in another way.
    private static final Pattern COUNTS = Pattern.compile(
            "(?:/[A-Za-z0-9_~@-][A-Za-z0-9._~@-]*)*(?:/count_tokens|/input_tokens|:countTokens)(?:\\?.*)?");

    /// Whether a target only asks how many tokens something has, which costs none.
    static boolean counts(String target) {
        return COUNTS.matcher(target).matches();
    }

    /// What an exchange spends at least while that is not known.
    static long least(String method) {
        return WITHOUT_BODY.contains(method) ? 0 : UNKNOWN_TOKENS;
    }

    /// What an exchange spent that is over.
    ///
    /// @param call that it made; null if none was read
    /// @param sent octets of the request's body, decoded where that was possible
    /// @param answered octets of the answer's body, likewise
    static CallSpending of(HttpExchange exchange, @Nullable ModelCall call, long sent, long answered) {
        boolean failed = exchange.how() == How.ANSWERED && exchange.status() >= FIRST_ERROR;
        boolean forwarded = exchange.how() != How.REFUSED
                && (exchange.request().octets() > 0
                        || exchange.status() != 0 && exchange.how() != How.BROKEN_BY_UPSTREAM);
        if (failed || !forwarded || counts(exchange.target())) {
            return NONE;
        }
        Usage said = call == null ? Usage.UNKNOWN : call.response().usage();
        Long input = said.inputTokens();
        Long output = said.outputTokens();
        if (call != null && call.response().complete() && input != null && output != null) {
            return new CallSpending(count(said, input, output), false);
        }
        // A token has at least one octet, as far as a text shows.
        long least = least(exchange.head().method());
        long unknownInput = Math.max(sent, exchange.request().octets());
        long unknownOutput = Math.max(answered, exchange.response().octets());
        long read = input != null ? input : unknownInput;
        long written = Math.max(Math.max(unknownOutput, output == null ? 0 : output), least - unknownInput);
        return new CallSpending(count(said, read, Math.max(0, written)), true);
    }

    private static Price.Count count(Usage said, long input, long output) {
        return new Price.Count(input, output, known(said.cacheReadTokens()), known(said.cacheCreationTokens()));
    }

    private static long known(@Nullable Long count) {
        return count == null ? 0 : count;
    }
}
