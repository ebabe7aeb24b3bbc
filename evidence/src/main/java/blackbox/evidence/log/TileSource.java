package blackbox.evidence.log;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Reads tiles: from a folder, over HTTP, from memory. What it returns is not trusted.
@FunctionalInterface
public interface TileSource {

    /// The octets of a tile or an entry bundle, exactly as wide as `tile` says; null if there is none.
    ///
    /// @throws IOException when it exists but cannot be read
    byte @Nullable [] read(TilePath tile) throws IOException;
}
