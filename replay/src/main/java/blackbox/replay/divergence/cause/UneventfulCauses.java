package blackbox.replay.divergence.cause;

import blackbox.replay.divergence.cause.AccessLog.Race;
import blackbox.replay.divergence.cause.AccessLog.Shared;
import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventLookup;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.replay.divergence.text.KnownNames;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.ProcessView;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Why what was printed or written differs though no event does: programs that raced, a random number, a time; or
/// nothing that was recorded. Reads each side up to three times.
public final class UneventfulCauses {
    private static final String NOTHING = "no event differs, and nothing else that was recorded says why; not recorded:"
            + " values of environment variables, readings of the clock, getrandom(2), memory that threads share, and what"
            + " goes through pipes. A run recorded with --tier exact has them all";

    private final KeyedHash hash;
    private final Side recorded;
    private final Side actual;

    public UneventfulCauses(KeyedHash hash, Side recorded, Side actual) {
        this.hash = hash;
        this.recorded = recorded;
        this.actual = actual;
    }

    /// Octets that differ, and what is around them.
    ///
    /// @param recorded with at most some hundred before and after the first that differs; it may hold secrets
    /// @param place of the first that differs, in both
    /// @param turned whether all in all the same words came, in another order
    public record Octets(String recorded, String actual, int place, boolean turned) {}

    /// Why what a file holds in the end differs.
    ///
    /// @param path of it in the recording
    /// @param index of the last recorded event that changed it, -1 if there is none
    public Causes.Found ofFile(String path, long index) throws IOException {
        Race race = index < 0 ? null : logOf(recorded).raceAt(logOf(actual), index);
        if (race != null) {
            return raced(race);
        }
        String writers = raceOfWriters(path);
        return writers == null ? unexplained() : new Causes.Found(DivergenceClass.SCHED, List.of(writers));
    }

    /// How programs that ran side by side changed a file in another order, in words; null if none did.
    public @Nullable String raceOfWriters(String path) throws IOException {
        return TurnsAtFile.of(hash, recorded, path).raceWith(TurnsAtFile.of(hash, actual, path), path);
    }

    /// Why what was printed differs.
    public Causes.Found ofOutput(Octets octets) throws IOException {
        Race race = octets.turned()
                ? logOf(recorded).anyRace(logOf(actual), EnumSet.of(Shared.CHILDREN, Shared.MEMORY, Shared.FILE))
                : null;
        if (race != null) {
            return raced(race);
        }
        String drawn = drawn(recorded);
        if (drawn != null
                && drawn(actual) != null
                && DrawnValue.differsFrom(octets.recorded(), octets.actual(), octets.place())) {
            return new Causes.Found(
                    DivergenceClass.RANDOM,
                    List.of("likely a random number, used before: " + drawn
                            + "; what differs is a value of a form in which random numbers are written"));
        }
        return unexplained();
    }

    private static Causes.Found unexplained() {
        return new Causes.Found(DivergenceClass.UNEXPLAINED, List.of(NOTHING));
    }

    private AccessLog logOf(Side side) throws IOException {
        return AccessLog.read(hash, KnownNames.NOTHING, side.events(), Long.MAX_VALUE);
    }

    private Causes.Found raced(Race race) throws IOException {
        return new Causes.Found(DivergenceClass.SCHED, List.of(race.inWords(new EventLookup(recorded.asRecorded()))));
    }

    /// The first event of a side that takes a random number, for people; null if there is none.
    private static @Nullable String drawn(Side side) throws IOException {
        var views = new EventViews();
        try (EventCursor cursor = side.events().open(0)) {
            while (cursor.next()) {
                if (draws(views.of(cursor.row()))) {
                    EventLookup.Facts facts = new EventLookup(side.asRecorded()).facts(cursor.index());
                    if (facts != null) {
                        return facts.line();
                    }
                }
            }
        }
        return null;
    }

    private static boolean draws(EventView event) {
        return switch (event) {
            case FileView.Open file -> !file.failed() && isOfRandom(file.path());
            case FileView.Io file -> isOfRandom(file.path());
            case ProcessView.Exec exec -> !exec.failed() && CausalScan.isRandom(exec);
            default -> false;
        };
    }

    private static boolean isOfRandom(@Nullable Text path) {
        return CausalScan.RANDOM_FILES.contains(String.valueOf(path));
    }
}
