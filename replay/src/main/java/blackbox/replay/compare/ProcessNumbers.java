package blackbox.replay.compare;

import blackbox.replay.content.KnownTies;
import blackbox.replay.content.Window;
import blackbox.replay.divergence.strand.ProcessPairs;
import blackbox.replay.divergence.strand.ProcessPairs.Written;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Numbers of processes stand for each other if the processes do, and nothing else does.
///
/// @param pairs null if it is not known which
record ProcessNumbers(@Nullable ProcessPairs pairs) implements KnownTies {
    /// An event may be reported later than what its process wrote.
    private static final long TOLERANCE_NS = 1_000_000_000;

    @Override
    public boolean standFor(String recorded, String actual) {
        return false;
    }

    @Override
    public boolean isSameProcess(long recorded, Window recordedWhen, long actual, Window actualWhen)
            throws IOException {
        return pairs != null && pairs.isPair(written(recorded, recordedWhen), written(actual, actualWhen));
    }

    private static Written written(long number, Window when) {
        return new Written(number, when.fromNs() - TOLERANCE_NS, when.toNs() + TOLERANCE_NS);
    }
}
