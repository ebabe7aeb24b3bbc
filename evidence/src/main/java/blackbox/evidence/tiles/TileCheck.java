package blackbox.evidence.tiles;

import blackbox.evidence.log.TileBuilder;
import blackbox.evidence.log.TileBuilder.Tile;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.schemas.Hash;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Computes a log's tiles and entry bundles again from its leaves and compares every file with them, so that
/// proofs served from the files hold. A partial tile of an earlier size must be a prefix of the full one;
/// tiles of a size that was never signed (a writer was killed) are ignored. Owned by one thread.
final class TileCheck {

    private final TransparencyLogReader files;
    private final TileBuilder tiles = new TileBuilder(this::compare);
    private @Nullable String fault;

    TileCheck(TransparencyLogReader files) {
        this.files = files;
    }

    void append(byte[] leaf) throws IOException {
        tiles.append(leaf);
    }

    /// The root over what was appended.
    Hash root() {
        return tiles.root();
    }

    /// To be called after the last leaf: what is wrong with the tiles, or null.
    @Nullable
    String fault() throws IOException {
        tiles.finish();
        return fault;
    }

    private void compare(TilePath wanted, Tile computed) throws IOException {
        boolean found = false;
        for (TilePath tile : files.tiles(wanted.level(), wanted.index())) {
            if (tile.width() > wanted.width()) {
                continue;
            }
            found |= tile.equals(wanted);
            byte[] octets = files.read(tile);
            if (octets != null && !Arrays.equals(octets, computed.octets(tile.width())) && fault == null) {
                fault = tile + " does not belong to this tree";
            }
        }
        if (!found && fault == null) {
            fault = wanted + " is missing";
        }
    }
}
