package blackbox.gateway.egress;

import org.jspecify.annotations.Nullable;

/// What became of a secret in one exchange; neither its value nor what stands for it is in here.
///
/// @param host the name; null for an address that stands for none
/// @param exchange its number in the connection, as in [HttpExchange#number]
/// @param secret its id
/// @param rule under which the request went; null if none allows it
/// @param place where it is put; where it stood, of one that goes elsewhere; what it was found in, of one that came
/// back
/// @param count how often
public record SecretUse(
        Flow flow,
        @Nullable String host,
        long exchange,
        String secret,
        How how,
        @Nullable String rule,
        String place,
        long count) {

    /// What became of it.
    public enum How {
        /// The value was put in place of the surrogate.
        PUT,
        /// The request is one that it goes with, and did not have it: it was forwarded as it was.
        ABSENT,
        /// The surrogate stood where it is not exchanged: the request was refused.
        ELSEWHERE,
        /// The answer had the value in it: the surrogate was put in its place.
        REFLECTED
    }
}
