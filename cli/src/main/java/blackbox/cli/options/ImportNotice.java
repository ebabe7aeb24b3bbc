package blackbox.cli.options;

import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.schemas.RunId;
import java.io.IOException;

/// Says on standard error that a run came from elsewhere and that nobody who is trusted here vouches for it,
/// whatever is asked about it.
public final class ImportNotice {

    private ImportNotice() {}

    /// Says it if it is so; returns the run.
    ///
    /// @throws QueryException when that cannot be read
    public static RunId print(Recordings recordings, RunId run) throws QueryException {
        try {
            if (!recordings.trust().trusts(run)) {
                System.err.println(
                        "blackbox: run " + run + " was imported and is UNTRUSTED: no key that is trusted here"
                                + " vouches for it, so anyone may have made it up");
            }
            return run;
        } catch (IOException e) {
            throw new QueryException(Code.STORE, "cannot read where run " + run + " comes from", e);
        }
    }
}
