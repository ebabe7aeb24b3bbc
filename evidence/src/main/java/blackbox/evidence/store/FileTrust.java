package blackbox.evidence.store;

import blackbox.schemas.RunId;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Decides whether data files are believed, before anything in them is read, and knows which runs there should be.
/// Safe to use from several threads.
@FunctionalInterface
public interface FileTrust {

    /// For callers that check every file and every row themselves, as verification does.
    FileTrust UNCHECKED = (_, _) -> null;

    /// Why the file is not believed, or null.
    ///
    /// @throws java.nio.file.NoSuchFileException when ingest has put another in its place
    /// @throws IOException when it cannot be read
    @Nullable
    String faultOf(RunId run, DataFile file) throws IOException;

    /// Whether a run is one of an installation whose keys are trusted here: an imported one need not be, and whoever
    /// answers from it says so.
    ///
    /// @throws IOException when that cannot be read
    default boolean trusts(RunId run) throws IOException {
        return true;
    }

    /// The runs that are known to have begun, and when; whether anything of them is here is another question.
    default Map<RunId, Instant> begun() throws IOException {
        return Map.of();
    }
}
