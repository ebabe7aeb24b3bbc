package blackbox.evidence.verify;

import blackbox.evidence.anchor.AnchoredRange;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The result of verification. Four questions are answered separately: is what is there genuine, is
/// everything there, when was it, who says so.
///
/// @param unknownFrom the first event from which on something may be missing of which nothing tells
///     ([Losses#unknownFrom]); null if the run is complete or its losses are declared
/// @param events leaves that an accepted checkpoint covers
/// @param checkpoints checkpoints that hold
/// @param anchors which events outside parties vouch for, and since when, in the order of time
/// @param control how the run could be stopped from its host, and who did so; null if its record does not say
public record Verification(
        Integrity integrity,
        Completeness completeness,
        @Nullable Long unknownFrom,
        Time time,
        Authorship authorship,
        long events,
        long checkpoints,
        List<AnchoredRange> anchors,
        List<Finding> findings,
        @Nullable ControlFacts control) {

    public Verification {
        anchors = List.copyOf(anchors);
        findings = List.copyOf(findings);
    }

    /// The result if no outside party vouches for a time.
    public Verification(
            Integrity integrity,
            Completeness completeness,
            @Nullable Long unknownFrom,
            Time time,
            Authorship authorship,
            long events,
            long checkpoints,
            List<Finding> findings) {
        this(integrity, completeness, unknownFrom, time, authorship, events, checkpoints, List.of(), findings, null);
    }

    /// The same, with findings about what lies beside the evidence.
    public Verification with(List<Finding> more) {
        var all = new ArrayList<>(findings);
        all.addAll(more);
        return new Verification(
                integrity, completeness, unknownFrom, time, authorship, events, checkpoints, anchors, all, control);
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
        /// Closed, but events may be missing of which nothing tells how many: the tracer went quiet or did not finish,
        /// its stream cannot be relied on, or the guest's numbers show more missing than was declared lost.
        UNKNOWN,
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
