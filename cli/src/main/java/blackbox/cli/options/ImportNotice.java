package blackbox.cli.options;

import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.query.run.ImportCaution;
import blackbox.schemas.RunId;

/// Says on standard error that a run came from elsewhere and that nobody who is trusted here vouches for it,
/// whatever is asked about it.
public final class ImportNotice {

    private ImportNotice() {}

    /// Says it if it is so; returns the run.
    ///
    /// @throws QueryException when that cannot be read
    public static RunId print(Recordings recordings, RunId run) throws QueryException {
        String caution = ImportCaution.of(recordings, run);
        if (caution != null) {
            System.err.println("blackbox: " + caution);
        }
        return run;
    }
}
