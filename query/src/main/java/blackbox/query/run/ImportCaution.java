package blackbox.query.run;

import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.schemas.RunId;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// What is to be said with every answer about a run that came from elsewhere and that nobody who is trusted
/// here vouches for.
public final class ImportCaution {

    private ImportCaution() {}

    /// The sentence; null for other runs.
    ///
    /// @throws QueryException when where it comes from cannot be read
    public static @Nullable String of(Recordings recordings, RunId run) throws QueryException {
        try {
            return recordings.trust().trusts(run)
                    ? null
                    : "run " + run + " was imported and is UNTRUSTED: no key that is trusted here"
                            + " vouches for it, so anyone may have made it up";
        } catch (IOException e) {
            throw new QueryException(Code.STORE, "cannot read where run " + run + " comes from", e);
        }
    }
}
