package blackbox.evidence.store;

import blackbox.schemas.RunId;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Says of data files whether they are believed, before anything in them is read. Safe to use from several threads.
@FunctionalInterface
public interface FileTrust {

    /// For who checks every file and every row himself, as verification does.
    FileTrust UNCHECKED = (_, _) -> null;

    /// Why the file is not believed, or null.
    ///
    /// @throws java.nio.file.NoSuchFileException when ingest has put another in its place
    /// @throws IOException when it cannot be read
    @Nullable
    String faultOf(RunId run, DataFile file) throws IOException;
}
