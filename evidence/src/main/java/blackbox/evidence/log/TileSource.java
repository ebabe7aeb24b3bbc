package blackbox.evidence.log;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Reads tiles: from a folder, over HTTP, from memory. What it gives is not trusted.
@FunctionalInterface
public interface TileSource {

    /// The octets of a tile or an entry bundle, just as wide as `tile` says; null where there is none.
    ///
    /// @throws IOException when it is there and cannot be read
    byte @Nullable [] read(TilePath tile) throws IOException;
}
