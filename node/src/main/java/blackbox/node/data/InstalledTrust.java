package blackbox.node.data;

import blackbox.evidence.bundle.RunOrigin;
import blackbox.evidence.store.DataFile;
import blackbox.evidence.store.FileTrust;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.verify.SealTrust;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Which data files an installation believes: those that its own keys seal and, of an imported run, those that the
/// seals of its bundle hold, by the keys that are trusted or else by its own. Safe to use from several threads.
final class InstalledTrust implements FileTrust {

    private final Recordings recordings;
    private final SealTrust.KeySource believed;
    private final SealTrust own;
    private final Map<RunId, SealTrust> imported = new ConcurrentHashMap<>();

    /// @param trusted the keys of this installation
    /// @param believed these, and those of the logs that its policy trusts
    InstalledTrust(Recordings recordings, SealTrust.KeySource trusted, SealTrust.KeySource believed) {
        this.recordings = recordings;
        this.believed = believed;
        this.own = new SealTrust(new TransparencyLogReader(recordings.log()), trusted);
    }

    @Override
    public @Nullable String faultOf(RunId run, DataFile file) throws IOException {
        return recordings.isImported(run)
                ? imported.computeIfAbsent(run, this::ofImported).faultOf(run, file)
                : own.faultOf(run, file);
    }

    private SealTrust ofImported(RunId run) {
        return new SealTrust(
                new TransparencyLogReader(recordings.holding(run).log()),
                () -> RunOrigin.keys(recordings, run, believed.read()));
    }

    @Override
    public boolean trusts(RunId run) throws IOException {
        return !recordings.isImported(run) || RunOrigin.isTrusted(recordings, run, believed.read());
    }

    @Override
    public Map<RunId, Instant> begun() throws IOException {
        return own.begun();
    }
}
