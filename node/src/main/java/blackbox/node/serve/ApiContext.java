package blackbox.node.serve;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Verification;
import blackbox.ingest.service.IngestStatus;
import blackbox.ingest.table.CatalogView;
import blackbox.node.access.AccessLog;
import blackbox.node.access.ApiTokens;
import blackbox.node.data.TrustSource;
import blackbox.node.login.OidcLogin;
import blackbox.node.replay.StartedReplays;
import blackbox.recorder.witness.Witness;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// What the API answers from.
///
/// @param data where runs are recorded that may be stopped
/// @param trustedKeys the public keys that are trusted
/// @param tokens that callers present
/// @param access the record of who asked what
/// @param ingest how ingest is doing; null as long as it has not started
/// @param replays that callers may start
/// @param witness for others' logs, if this service is one
/// @param login by an identity provider, if there is one
public record ApiContext(
        DataFolder data,
        Recordings recordings,
        TrustSource trustedKeys,
        ApiTokens tokens,
        AccessLog access,
        Supplier<@Nullable IngestStatus> ingest,
        StartedReplays replays,
        @Nullable Witness witness,
        @Nullable OidcLogin login) {

    /// Verifies a run with the keys that are trusted now.
    Verification verify(RunId run) throws IOException {
        return CatalogView.verify(recordings, run, trustedKeys.read(), null, trustedKeys.anchors());
    }
}
