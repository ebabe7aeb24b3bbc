package blackbox.evidence.anchor;

import blackbox.evidence.log.Checkpoint;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/// A trusted outside party's word that the log of runs was what `checkpoint` says, at the latest at
/// `notLaterThan`.
///
/// @param by the witnesses' names in the policy, or the time authority's own
public record Anchor(Kind kind, Checkpoint checkpoint, Instant notLaterThan, List<String> by) {

    /// What kind of word it is.
    public enum Kind {
        /// Cosignatures of a quorum of witnesses.
        WITNESS,
        /// A time stamp.
        RFC3161;

        /// As it is written.
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public Anchor {
        by = List.copyOf(by);
    }
}
