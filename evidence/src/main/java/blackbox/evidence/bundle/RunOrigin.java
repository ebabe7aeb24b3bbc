package blackbox.evidence.bundle;

import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.TrustFiles;
import blackbox.evidence.verify.RunVerifier;
import blackbox.evidence.verify.Verification;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Where a run comes from: it was recorded in this data folder, or imported into it as a bundle, by keys that are
/// trusted here or by others. An import adds no trust: a bundle that no trusted key signed is verified with its own
/// keys, and the verdict says that its authorship is not trusted.
public final class RunOrigin {

    private RunOrigin() {}

    /// Verifies a run, wherever it comes from.
    ///
    /// @param trusted the keys that are trusted to begin with
    /// @param kept a checkpoint of the run's log of runs that was kept elsewhere, or null
    /// @param anchors whose statements about time are trusted
    /// @throws IOException when a file cannot be read at all: an operating failure, not a verdict
    public static Verification verify(
            Recordings recordings,
            RunId run,
            List<? extends NoteVerifier> trusted,
            @Nullable SignedNote kept,
            AnchorTrust anchors)
            throws IOException {
        if (!recordings.isImported(run)) {
            return RunVerifier.verify(recordings, run, trusted, kept, anchors);
        }
        List<NoteVerifier> keys = trusting(recordings, run, trusted);
        Recordings bundle = recordings.holding(run);
        if (kept != null) { // says which log it must be, and so trusts its key
            return RunVerifier.verify(bundle, run, keys, kept, anchors);
        }
        return BundleVerifier.verify(
                bundle.data(), run, BundleVerifier.isSignedBy(bundle.data(), run, keys) ? keys : List.of(), anchors);
    }

    /// Whether a trusted key vouches for an imported run.
    public static boolean isTrusted(Recordings recordings, RunId run, List<? extends NoteVerifier> trusted)
            throws IOException {
        return BundleVerifier.isSignedBy(recordings.holding(run).data(), run, trusting(recordings, run, trusted));
    }

    /// The keys to read an imported run with: the trusted ones if one of them vouches for it, else its own.
    public static List<NoteVerifier> keys(Recordings recordings, RunId run, List<? extends NoteVerifier> trusted)
            throws IOException {
        return isTrusted(recordings, run, trusted)
                ? trusting(recordings, run, trusted)
                : BundleVerifier.ownKeys(recordings.holding(run).data());
    }

    /// The trusted keys, and those that the import named for this run.
    private static List<NoteVerifier> trusting(Recordings recordings, RunId run, List<? extends NoteVerifier> trusted)
            throws IOException {
        var keys = new ArrayList<NoteVerifier>(trusted);
        for (Path file : Recordings.entries(new DataFolder(recordings.data()).importedTrust(run))) {
            if (file.toString().endsWith(".pub")) {
                try {
                    keys.add(TrustFiles.key(file));
                } catch (IllegalArgumentException e) {
                    throw new IOException("there is no public key in " + file, e);
                }
            }
        }
        return keys;
    }
}
