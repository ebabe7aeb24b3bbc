package blackbox.replay.files;

import blackbox.replay.ReplayException;
import java.nio.file.Path;

/// A disk that was never mounted: there is no journal to replay.
public final class CleanDisk {
    private CleanDisk() {}

    /// Its files.
    public static FilesAtEnd open(Path image) throws ReplayException {
        return FilesAtEnd.in(image, null);
    }
}
