package blackbox.replay.divergence.align;

import blackbox.replay.divergence.strand.Token;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Where two replays of the same run differ from each other: a difference there between recording and replay
/// means nothing. Places are counted in the strands of the replay that is compared with the recording.
public final class NoiseMask {

    private static final int PLACES_MAX = 65_536;
    private static final int LINES_MAX = 20;

    private record Place(long from, long to) {}

    private final Map<Long, List<Place>> places = new HashMap<>();
    private final Set<Long> wholeStrands = new HashSet<>();
    private final List<Token> shown = new ArrayList<>();
    private int count;

    /// Learns from the alignment of the replay (as the recorded side) with a further one.
    public void learn(Iterable<StrandPair> pairs) {
        for (StrandPair pair : pairs) {
            if (pair.edits().isEmpty()) {
                continue;
            }
            if (pair.isOneSided()) {
                wholeStrands.add(pair.strand().key());
            }
            for (Edit edit : pair.edits()) {
                learn(pair.strand().key(), edit);
            }
        }
    }

    private void learn(long strand, Edit edit) {
        if (++count > PLACES_MAX) {
            return;
        }
        long from = edit.agreed() == null ? 0 : edit.agreed().expected().ordinal() + 1;
        places.computeIfAbsent(strand, _ -> new ArrayList<>()).add(new Place(from, from + edit.expectedSpan()));
        if (!edit.expected().isEmpty() && shown.size() < LINES_MAX) {
            shown.add(edit.expected().getFirst());
        }
    }

    /// Counts a strand that only the recorded side has as noise, because it belongs to one that is.
    public void learnStrand(long strand) {
        wholeStrands.add(strand);
    }

    public boolean coversStrand(long strand) {
        return wholeStrands.contains(strand);
    }

    /// Whether a difference between recording and replay is where replays differ, too.
    public boolean covers(long strand, Edit edit) {
        if (wholeStrands.contains(strand)) {
            return true;
        }
        long from = edit.agreed() == null ? 0 : edit.agreed().actual().ordinal() + 1;
        long to = from + edit.actualSpan();
        for (Place place : places.getOrDefault(strand, List.of())) {
            if (from <= place.to && place.from <= to) {
                return true;
            }
        }
        return false;
    }

    /// How many places differ between the replays.
    public int size() {
        return count;
    }

    /// The first of the replay's tokens that are noise.
    public List<Token> shown() {
        return shown;
    }
}
