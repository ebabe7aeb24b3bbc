package blackbox.replay.divergence.cause;

import blackbox.replay.divergence.align.Edit;
import blackbox.replay.divergence.align.StrandPair;
import blackbox.replay.divergence.strand.Strand;
import blackbox.replay.divergence.strand.Token;
import org.jspecify.annotations.Nullable;

/// Where a strand differs first.
///
/// @param bit its bit in [CausalHistory#divergences]
/// @param place among the recorded events, or where it would be
public record Candidate(long bit, StrandPair pair, Edit edit, long place) {

    public Strand strand() {
        return pair.strand();
    }

    /// Index of the recorded event at this place, or -1.
    public long recordedIndex() {
        return index(edit.hereExpected());
    }

    public long actualIndex() {
        return index(edit.hereActual());
    }

    private static long index(@Nullable Token token) {
        return token == null ? -1 : token.index();
    }

    /// Whether it is about the network rather than about something that a process did.
    public boolean isNetwork() {
        return switch (strand().sort()) {
            case GUEST_FLOW, HOST_FLOW, DNS -> true;
            case PROCESS, THREAD, HOST -> false;
        };
    }
}
