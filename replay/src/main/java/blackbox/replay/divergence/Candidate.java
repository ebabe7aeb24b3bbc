package blackbox.replay.divergence;

import org.jspecify.annotations.Nullable;

/// Where a strand differs first.
///
/// @param bit its bit in [CausalHistory#divergences]
record Candidate(long bit, StrandPair pair, Edit edit) {

    Strand strand() {
        return pair.strand();
    }

    /// Index of the recorded event at this place, or -1.
    long recordedIndex() {
        return index(edit.hereExpected());
    }

    long actualIndex() {
        return index(edit.hereActual());
    }

    private static long index(@Nullable Token token) {
        return token == null ? -1 : token.index();
    }

    /// Whether it is about the network rather than about something that a process did.
    boolean isNetwork() {
        return switch (strand().sort) {
            case GUEST_FLOW, HOST_FLOW, DNS -> true;
            case PROCESS, THREAD, HOST -> false;
        };
    }

    /// Its place among others: in recorded events if it has one, otherwise approximately where it would be.
    long place() {
        Token here = edit.hereExpected();
        if (here != null) {
            return here.index();
        }
        Edit.Agreed agreed = edit.agreed();
        return agreed != null ? agreed.expected().index() : actualIndex();
    }
}
