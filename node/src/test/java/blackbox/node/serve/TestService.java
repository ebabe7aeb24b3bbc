package blackbox.node.serve;

import blackbox.evidence.store.Recordings;
import blackbox.ingest.service.IngestStatus;
import blackbox.node.access.AccessLog;
import blackbox.node.access.ApiToken;
import blackbox.node.access.ApiTokens;
import blackbox.node.data.TrustSource;
import blackbox.node.login.OidcLogin;
import blackbox.node.replay.StartedReplays;
import blackbox.recorder.witness.Witness;
import blackbox.schemas.folder.DataFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// What an API server answers from in a test; its record of access is in a data folder of its own, `service`.
///
/// @param token the data folder's own
/// @param ingest what it is told of ingest
record TestService(ApiContext context, String token, AtomicReference<@Nullable IngestStatus> ingest)
        implements AutoCloseable {

    static TestService in(Path data, TrustSource keys, @Nullable Witness witness) throws Exception {
        return in(new DataFolder(data), new DataFolder(data.resolve("service")), keys, witness);
    }

    /// @param access where the record of access is kept
    static TestService in(DataFolder data, DataFolder access, TrustSource keys, @Nullable Witness witness)
            throws Exception {
        return in(data, access, keys, witness, null);
    }

    static TestService in(
            DataFolder data, DataFolder access, TrustSource keys, @Nullable Witness witness, @Nullable OidcLogin login)
            throws Exception {
        return in(data, access, keys, witness, login, List.of());
    }

    /// @param launcher starts what stands in for this program in replays
    static TestService in(
            DataFolder data,
            DataFolder access,
            TrustSource keys,
            @Nullable Witness witness,
            @Nullable OidcLogin login,
            List<String> launcher)
            throws Exception {
        ApiToken own = ApiToken.loadOrCreate(data.apiToken(), new SecureRandom());
        var tokens = new ApiTokens(data, own, InstantSource.system(), _ -> {});
        AccessLog log = AccessLog.open(access, tokens, _ -> {});
        var ingest = new AtomicReference<@Nullable IngestStatus>();
        var context = new ApiContext(
                data,
                Recordings.unchecked(data.root()),
                keys,
                tokens,
                log,
                ingest::get,
                new StartedReplays(
                        launcher,
                        data,
                        1,
                        launcher.isEmpty() ? "there is no program here" : null,
                        InstantSource.system()),
                witness,
                login);
        return new TestService(context, Files.readString(data.apiToken()).strip(), ingest);
    }

    @Override
    public void close() {
        context.replays().close();
        context.access().close();
    }
}
