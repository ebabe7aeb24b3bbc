package blackbox.node.serve;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Verification;
import blackbox.ingest.table.CatalogView;
import blackbox.recorder.witness.Witness;
import blackbox.schemas.RunId;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// What the API answers from: the recordings, the public keys that are trusted, the token that callers
/// present, and the witness for others' logs, if this service is one.
public record ApiContext(
        Recordings recordings,
        TrustSource trustedKeys,
        ApiToken token,
        @Nullable Witness witness) {

    /// Verifies a run with the keys that are trusted now.
    Verification verify(RunId run) throws IOException {
        return CatalogView.verify(recordings, run, trustedKeys.read(), null, trustedKeys.anchors());
    }
}
