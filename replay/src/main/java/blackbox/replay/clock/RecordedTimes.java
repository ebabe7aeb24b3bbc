package blackbox.replay.clock;

import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;

/// When each event of a re-execution was in the recording, found as it arrives: the recording is read as far ahead as
/// a bounded number of events. Owned by one thread.
final class RecordedTimes implements AutoCloseable {
    private static final int AHEAD_MAX = 1 << 14;

    private final EventCursor recorded;
    private final SharedPlaces before;
    private final SharedPlaces after;
    private final int aheadMax;
    /// By place, in the order of the recording.
    private final Map<Long, Place> ahead = new LinkedHashMap<>();

    private long read;
    private long reached;
    private boolean over;

    /// @param number of the recording's places
    private record Place(long number, long atNs) {}

    RecordedTimes(EventSource recorded, KeyedHash hash) throws IOException {
        this(recorded, hash, AHEAD_MAX);
    }

    /// @param aheadMax how many events are searched before and after the last one that was found
    RecordedTimes(EventSource recorded, KeyedHash hash, int aheadMax) throws IOException {
        this.recorded = recorded.open(0);
        this.before = new SharedPlaces(hash);
        this.after = new SharedPlaces(hash);
        this.aheadMax = aheadMax;
    }

    /// When the recorded event was that stands for the next one of the re-execution, nanoseconds since 1970; empty if
    /// there is none, or it is too far away.
    OptionalLong of(Row row) throws IOException {
        long place = after.of(row);
        if (place == SharedPlaces.NONE) {
            return OptionalLong.empty();
        }
        readAhead();
        Place found = ahead.remove(place);
        if (found == null) {
            return OptionalLong.empty();
        }
        reached = Math.max(reached, found.number());
        return OptionalLong.of(found.atNs());
    }

    private void readAhead() throws IOException {
        while (!over && read < reached + aheadMax) {
            over = !recorded.next();
            if (!over) {
                put(recorded.row());
            }
        }
        Iterator<Place> eldest = ahead.values().iterator();
        while (eldest.hasNext() && eldest.next().number() < reached - aheadMax) {
            eldest.remove();
        }
    }

    private void put(Row row) {
        long place = before.of(row);
        if (place != SharedPlaces.NONE) {
            ahead.put(place, new Place(++read, row.number(Column.AT_NS)));
        }
    }

    @Override
    public void close() throws IOException {
        recorded.close();
    }
}
