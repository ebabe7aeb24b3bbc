package blackbox.evidence.verify;

import blackbox.evidence.anchor.AnchoredRange;
import java.util.ArrayList;
import java.util.List;

/// The result of verification. Four questions are answered separately: is what is there genuine, is
/// everything there, when was it, who says so.
///
/// @param events leaves that an accepted checkpoint covers
/// @param checkpoints checkpoints that hold
/// @param anchors which events outside parties vouch for, and since when, in the order of time
public record Verification(
        Integrity integrity,
        Completeness completeness,
        Time time,
        Authorship authorship,
        long events,
        long checkpoints,
        List<AnchoredRange> anchors,
        List<Finding> findings) {

    public Verification {
        anchors = List.copyOf(anchors);
        findings = List.copyOf(findings);
    }

    /// The result if no outside party vouches for a time.
    public Verification(
            Integrity integrity,
            Completeness completeness,
            Time time,
            Authorship authorship,
            long events,
            long checkpoints,
            List<Finding> findings) {
        this(integrity, completeness, time, authorship, events, checkpoints, List.of(), findings);
    }

    /// The same, with findings about what lies beside the evidence.
    public Verification with(List<Finding> more) {
        var all = new ArrayList<>(findings);
        all.addAll(more);
        return new Verification(integrity, completeness, time, authorship, events, checkpoints, anchors, all);
    }

    /// Whether what is there is what was recorded.
    public enum Integrity {
        VERIFIED,
        TAMPERED
    }

    /// Whether everything that was recorded is there.
    public enum Completeness {
        /// Closed, and nothing was lost.
        COMPLETE,
        /// Closed, and what was lost is declared.
        LOSS_DECLARED,
        /// Closed, but the guest's own numbers show that more is missing than was declared lost.
        LOSS_UNDECLARED,
        /// Still being recorded.
        OPEN,
        /// The end is missing.
        TRUNCATED
    }

    /// What vouches for the time.
    public enum Time {
        /// An outside witness or time stamp.
        ANCHORED,
        /// The recorder's own clock alone.
        HOST_CLOCK
    }

    /// The keys that signed the checkpoints, as `name+key id`, and whether each of them is trusted.
    public record Authorship(List<String> keys, boolean trusted) {
        public Authorship {
            keys = List.copyOf(keys);
        }
    }

    /// Something that does not hold or should be known. `index` is the first event concerned, -1 if there is
    /// none.
    public record Finding(long index, String what) {}

    /// Whether the run holds: it is genuine, and complete or with its losses declared.
    public boolean holds() {
        return integrity == Integrity.VERIFIED
                && (completeness == Completeness.COMPLETE || completeness == Completeness.LOSS_DECLARED);
    }
}
