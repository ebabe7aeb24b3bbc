package blackbox.node.verdict;

import blackbox.node.record.TransparencyLog;
import blackbox.recorder.RecorderException;
import blackbox.recorder.keys.LogKeys;
import blackbox.replay.ReplayException;
import blackbox.replay.verdict.Verdict;
import blackbox.replay.verdict.VerdictStore;
import blackbox.replay.verdict.VerdictStore.Document;
import blackbox.schemas.folder.DataFolder;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Turns a verdict into evidence: first the document, made durable, then the signed leaf that binds it.
final class VerdictLog {
    private final DataFolder data;

    VerdictLog(DataFolder data) {
        this.data = data;
    }

    /// A stored verdict.
    ///
    /// @param file its document
    /// @param unsigned why no leaf of the log of runs binds it, or null when one does
    /// @param log the origin of the log of runs that it was signed in, which says where it was made; null if it was
    ///     not
    record StoredVerdict(
            Verdict verdict,
            Path file,
            @Nullable String unsigned,
            @Nullable String log) {}

    /// Stores, signs and logs `verdict`. If the key cannot be used, the verdict is stored unsigned.
    StoredVerdict keep(Verdict verdict) throws ReplayException {
        Document document = new VerdictStore(data.root()).keep(verdict);
        try {
            // A data folder that was copied without its keys must not get new ones: its log belongs to
            // someone else.
            if (LogKeys.conf(data.keys()) == null) {
                return new StoredVerdict(
                        verdict, document.file(), "this data folder does not have the key of its log of runs", null);
            }
            String origin;
            try (TransparencyLog runs = TransparencyLog.open(data)) {
                origin = runs.log().origin();
                runs.log().replayed(verdict.run(), verdict.tier(), verdict.outcome(), document.sha256());
            }
            return new StoredVerdict(verdict, document.file(), null, origin);
        } catch (RecorderException e) {
            return new StoredVerdict(verdict, document.file(), String.valueOf(e.getMessage()), null);
        }
    }
}
