package blackbox.query.hunt;

import blackbox.evidence.store.Recordings;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/// What a hunt did not look at.
public final class HuntLimits {
    private HuntLimits() {}

    /// Says of which runs events are not in the table yet.
    ///
    /// @param runs where somebody wants to look; none: in all that there are
    /// @return a list that can be added to
    public static List<String> of(Recordings recordings, Collection<RunId> runs) throws IOException {
        var limits = new ArrayList<String>();
        for (RunId run : runs.isEmpty() ? recordings.runs() : runs) {
            if (Files.isDirectory(recordings.spoolFolder(run))) {
                limits.add(run + ": what is not in the table yet was not looked at");
            }
        }
        return limits;
    }

    /// Says of matches that were forgotten.
    ///
    /// @param forgotten as [RuleHunt#hunt] says it
    /// @return none if nothing was
    public static List<String> ofForgotten(long forgotten) {
        return forgotten == 0
                ? List.of()
                : List.of(forgotten
                        + " groups of matches were forgotten, of which rules over others might have held later");
    }
}
