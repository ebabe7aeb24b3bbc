package blackbox.evidence.time;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// The result of checking a time stamp.
public sealed interface TimeVerdict {

    /// A trusted authority says that the octets existed at `time`.
    ///
    /// @param accuracy how far off `time` can be either way; null if the authority does not say
    /// @param authority the subject of the certificate that signed, as RFC 2253 writes names
    /// @param serial the stamp's number at that authority
    /// @param policy the object identifier of the policy under which it was made
    record Stamped(Instant time, @Nullable Duration accuracy, String authority, BigInteger serial, String policy)
            implements TimeVerdict {

        /// The latest moment at which the octets can have been created.
        public Instant notLaterThan() {
            return accuracy == null ? time : time.plus(accuracy);
        }
    }

    /// The stamp is not accepted; `why` is one sentence.
    record Refused(String why) implements TimeVerdict {}
}
