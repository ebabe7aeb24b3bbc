package blackbox.query.run;

import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// Finds the run that a user means: an id, a unique prefix of one, a name, or `last`.
public final class RunNames {

    private RunNames() {}

    /// The run that `said` means. An id takes precedence over a prefix, a prefix over a name; of several runs
    /// with one name, the newest is meant.
    ///
    /// @throws QueryException when there is none, or when several match
    public static RunId resolve(Recordings recordings, String said) throws QueryException {
        try {
            List<RunId> runs = recordings.runs();
            if (runs.isEmpty()) {
                throw new QueryException(
                        Code.NOT_FOUND,
                        "there are no recordings in " + recordings.data()
                                + "; record one, or name another data folder with --data");
            }
            return said.equals("last") ? last(recordings, runs) : resolve(recordings, runs, said);
        } catch (IOException e) {
            throw new QueryException(Code.STORE, "cannot list the recordings in " + recordings.data(), e);
        }
    }

    /// The newest run of an agent that was recorded here; of imported ones, others chose the ids, and with them
    /// their place.
    private static RunId last(Recordings recordings, List<RunId> runs) throws QueryException, IOException {
        for (RunId run : runs.reversed()) {
            if (!recordings.isImported(run) && RunFacts.read(recordings, run).service() == null) {
                return run;
            }
        }
        throw new QueryException(
                Code.NOT_FOUND,
                "no run of an agent was recorded here; name another by its id: `blackbox runs --access`");
    }

    /// The same, but a complete id is accepted even if nothing is left of that run: that is a verdict, too.
    public static RunId resolveAlsoLost(Recordings recordings, String said) throws QueryException {
        try {
            return new RunId(said);
        } catch (IllegalArgumentException e) {
            return resolve(recordings, said);
        }
    }

    private static RunId resolve(Recordings recordings, List<RunId> runs, String said)
            throws QueryException, IOException {
        List<RunId> matches = runs.stream()
                .filter(run -> !said.isEmpty() && run.value().startsWith(said))
                .toList();
        if (matches.size() == 1) {
            return matches.getFirst();
        }
        var named = new ArrayList<RunId>();
        for (RunId run : runs) {
            if (said.equals(RunFacts.read(recordings, run).name())) {
                named.add(run);
            }
        }
        if (!named.isEmpty()) {
            return named.stream()
                    .filter(run -> !recordings.isImported(run))
                    .reduce((_, newer) -> newer)
                    .orElse(named.getLast());
        }
        if (matches.size() > 1) {
            throw new QueryException(
                    Code.BAD_INPUT, matches.size() + " runs start with '" + said + "'; give more characters of the id");
        }
        for (var missing : recordings.missingRuns().entrySet()) {
            if (!said.isEmpty() && missing.getKey().value().startsWith(said)) {
                throw new QueryException(
                        Code.NOT_FOUND,
                        "run " + missing.getKey() + " is missing: the log of runs certified it at " + missing.getValue()
                                + ", and nothing of it is here");
            }
        }
        throw new QueryException(Code.NOT_FOUND, "there is no run '" + said + "'; `blackbox runs` lists them");
    }
}
