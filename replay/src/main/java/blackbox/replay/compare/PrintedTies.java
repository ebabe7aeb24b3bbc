package blackbox.replay.compare;

import blackbox.replay.clock.SharedTimeline;
import blackbox.replay.content.KnownTies;
import blackbox.replay.content.Window;
import java.io.IOException;
import java.util.function.BiPredicate;

/// Which values in what was printed stand for each other.
///
/// @param values those that are known from the files that were left
/// @param timeline when both sides did the same
public record PrintedTies(KnownTies values, SharedTimeline timeline) implements KnownTies {
    @Override
    public boolean standFor(String recorded, String actual) {
        return values.standFor(recorded, actual);
    }

    @Override
    public boolean anyTimes(long fromNs, long toNs, BiPredicate<Long, Long> test) {
        return values.anyTimes(fromNs, toNs, test);
    }

    @Override
    public boolean isSameSecond(long recorded, long actual) {
        return values.isSameSecond(recorded, actual);
    }

    @Override
    public boolean isSameProcess(long recorded, Window recordedWhen, long actual, Window actualWhen)
            throws IOException {
        return values.isSameProcess(recorded, recordedWhen, actual, actualWhen);
    }

    @Override
    public boolean isSameStretch(long recordedNs, Window length, long actualNs, Window otherLength) {
        return timeline.isSameStretch(recordedNs, length, actualNs, otherLength);
    }
}
