package blackbox.replay;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.evidence.text.Timestamps;
import blackbox.replay.ReplayException.Code;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.io.IOException;
import java.time.Instant;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A moment of a run, as a person names it.
public sealed interface Moment {

    /// An event, by its index.
    record AtEvent(long index) implements Moment {
        public AtEvent {
            if (index < 0) {
                throw new IllegalArgumentException("events are numbered from 0");
            }
        }
    }

    /// A point in time.
    record AtTime(Instant time) implements Moment {}

    /// A time of day, UTC: the first one at or after the run's start.
    record AtTimeOfDay(LocalTime time) implements Moment {}

    /// The place of a moment in a run.
    ///
    /// @param index of the last event at or before it
    /// @param atNs that event's time, nanoseconds since 1970
    record Position(long index, long atNs) {}

    Set<Column> COLUMNS = Set.of(Column.AT_NS);
    Pattern INDEX = Pattern.compile("\\d{1,18}");
    Pattern TIME_OF_DAY = Pattern.compile("\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?");

    /// Reads an index, an RFC 3339 time or `HH:MM:SS`.
    ///
    /// @throws IllegalArgumentException with a sentence for people
    static Moment parse(String text) {
        try {
            if (INDEX.matcher(text).matches()) {
                return new AtEvent(Long.parseLong(text));
            }
            if (TIME_OF_DAY.matcher(text).matches()) {
                return new AtTimeOfDay(LocalTime.parse(text));
            }
            return new AtTime(OffsetDateTime.parse(text).toInstant());
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a moment; write an event's index, a time such as 2026-11-22T02:13:07Z,"
                            + " or a time of the run's day such as 02:13:07 (UTC)",
                    e);
        }
    }

    /// Finds the moment in a run.
    ///
    /// @throws ReplayException `BAD_INPUT` when it is outside the run
    default Position locate(Recordings recordings, RunId run) throws ReplayException, IOException {
        try (RunReader reader = RunReader.open(recordings, run, 0, COLUMNS)) {
            if (!reader.next()) {
                throw new ReplayException(Code.MISSING, "run " + run + " has no events here");
            }
            var first = position(reader);
            Position found = this instanceof AtEvent event ? at(recordings, run, event.index()) : null;
            if (found != null) {
                return found;
            }
            long untilNs = untilNs(first.atNs());
            Position last = first;
            do {
                last = position(reader);
                // Events of guest and host are in the order in which the recorder took them, not in the order
                // of their times.
                if (!(this instanceof AtEvent) && last.atNs() <= untilNs) {
                    found = last;
                }
            } while (reader.next());
            if (found == null || untilNs < first.atNs() || !(this instanceof AtEvent) && untilNs > last.atNs()) {
                throw new ReplayException(
                        Code.BAD_INPUT,
                        "run " + run + " has no such moment: it goes from event 0 at " + Timestamps.format(first.atNs())
                                + " to event " + last.index() + " at " + Timestamps.format(last.atNs()));
            }
            return found;
        }
    }

    /// The moment itself, nanoseconds since 1970. Of an event, the latest time of all up to it: a guest may date its
    /// own
    /// back, but not those of the host before it.
    ///
    /// @throws ReplayException `BAD_INPUT` when it is outside the run
    default long timeNs(Recordings recordings, RunId run) throws ReplayException, IOException {
        Position last = locate(recordings, run);
        Position first = at(recordings, run, 0);
        if (!(this instanceof AtEvent) && first != null) {
            return untilNs(first.atNs());
        }
        long latest = last.atNs();
        try (RunReader reader = RunReader.open(recordings, run, 0, COLUMNS)) {
            while (reader.next() && reader.index() <= last.index()) {
                latest = Math.max(latest, position(reader).atNs());
            }
        }
        return latest;
    }

    /// Index of the event right before the first one that is later than `untilNs`; 0 if that is the first.
    static long lastBefore(Recordings recordings, RunId run, long untilNs) throws IOException {
        long last = 0;
        try (RunReader reader = RunReader.open(recordings, run, 0, COLUMNS)) {
            while (reader.next() && position(reader).atNs() <= untilNs) {
                last = reader.index();
            }
        }
        return last;
    }

    private static @Nullable Position at(Recordings recordings, RunId run, long index) throws IOException {
        try (RunReader reader = RunReader.open(recordings, run, index, COLUMNS)) {
            return reader.next() && reader.index() == index ? position(reader) : null;
        }
    }

    /// Up to when things belong to the moment, nanoseconds since 1970; no limit for an event, whose time is the guest's
    /// claim.
    ///
    /// @param startNs the time of the run's first event
    default long untilNs(long startNs) {
        return switch (this) {
            case AtEvent _ -> Long.MAX_VALUE;
            case AtTime at -> nanos(at.time());
            case AtTimeOfDay at -> {
                Instant start = Instant.ofEpochSecond(0, startNs);
                Instant sameDay = start.atOffset(ZoneOffset.UTC)
                        .toLocalDate()
                        .atTime(at.time())
                        .toInstant(ZoneOffset.UTC);
                yield nanos(sameDay.isBefore(start) ? sameDay.plusSeconds(86_400) : sameDay);
            }
        };
    }

    private static long nanos(Instant time) {
        try {
            return Timestamps.nanos(time);
        } catch (ArithmeticException e) {
            return time.getEpochSecond() < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    private static Position position(RunReader reader) {
        Row row = reader.row();
        return new Position(reader.index(), row.has(Column.AT_NS) ? row.number(Column.AT_NS) : 0);
    }
}
