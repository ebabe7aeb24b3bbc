package blackbox.policy.budget;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;

/// The most that may be spent under a rule in one run; what it does not name is not limited.
///
/// @param limits at least one, each from 1 to [#AMOUNT_MAX], in the unit of its [Limit]
public record Budget(Map<Limit, Long> limits) {

    /// The greatest number that every reader of JSON reads exactly (RFC 8259, section 6).
    public static final long AMOUNT_MAX = (1L << 53) - 1;

    /// All limits with their units: `500 requests, 20 US dollars`.
    public String words() {
        return limits.entrySet().stream()
                .map(limit -> limit.getKey().words(limit.getValue()))
                .collect(Collectors.joining(", "));
    }

    public Budget {
        limits = Collections.unmodifiableMap(new EnumMap<>(limits));
        for (Map.Entry<Limit, Long> limit : limits.entrySet()) {
            if (limit.getValue() < 1 || limit.getValue() > AMOUNT_MAX) {
                throw new IllegalArgumentException(limit.getKey().key() + " is from 1 to " + AMOUNT_MAX);
            }
        }
    }
}
