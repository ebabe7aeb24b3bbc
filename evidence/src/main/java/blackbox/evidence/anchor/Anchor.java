package blackbox.evidence.anchor;

import blackbox.evidence.log.Checkpoint;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/// A trusted outside party's statement that the log of runs was in the state of `checkpoint` at
/// `notLaterThan` or before.
///
/// @param by the witnesses' names in the policy, or the time authority's own
public record Anchor(Kind kind, Checkpoint checkpoint, Instant notLaterThan, List<String> by) {

    /// The kind of statement.
    public enum Kind {
        /// Cosignatures of a quorum of witnesses.
        WITNESS,
        /// A time stamp.
        RFC3161;

        /// The name under which it is written.
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public Anchor {
        by = List.copyOf(by);
    }
}
