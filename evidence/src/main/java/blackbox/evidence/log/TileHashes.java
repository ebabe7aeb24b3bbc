package blackbox.evidence.log;

import blackbox.schemas.Hash;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/// The subtrees of a tree of `size` leaves, computed from its tiles (C2SP tlog-tiles). The most recently used
/// tiles are cached. Owned by one thread.
public final class TileHashes implements SubtreeHashes {

    /// Enough for the right edge and one path through a tree of any size.
    private static final int TILES_KEPT = 32;

    private final TileSource source;
    private final long size;
    private final TreeHasher hasher = new TreeHasher();
    private final Map<TilePath, byte[]> kept = new LinkedHashMap<>(TILES_KEPT, 0.75f, true);

    public TileHashes(TileSource source, long size) {
        this.source = source;
        this.size = size;
    }

    @Override
    public Hash at(int level, long index) throws IOException {
        if (level < 0 || level >= Long.SIZE - 1 || index < 0 || index >= size >>> level) {
            throw new IllegalArgumentException(
                    "a tree of " + size + " leaves has no complete subtree " + index + " of 2^" + level + " leaves");
        }
        int tileLevel = level / TilePath.HEIGHT;
        int above = level % TilePath.HEIGHT;
        long first = index << above;
        TilePath tile = TilePath.of(tileLevel, first / TilePath.FULL, size);
        if (tile == null) {
            throw new IllegalStateException("no tile holds subtree " + index + " of level " + level);
        }
        return root(tile(tile), (int) (first % TilePath.FULL), 1 << above);
    }

    private Hash root(byte[] tile, int from, int count) {
        if (count == 1) {
            return Hash.copyOf(tile, from * Hash.LENGTH);
        }
        int half = count / 2;
        return hasher.node(root(tile, from, half), root(tile, from + half, half));
    }

    private byte[] tile(TilePath tile) throws IOException {
        byte[] octets = kept.get(tile);
        if (octets == null) {
            octets = read(tile);
            kept.put(tile, octets);
            if (kept.size() > TILES_KEPT) {
                kept.remove(kept.keySet().iterator().next());
            }
        }
        return octets;
    }

    /// A log may drop a partial tile once the full one exists.
    private byte[] read(TilePath tile) throws IOException {
        byte[] octets = source.read(tile);
        TilePath found = tile;
        if (octets == null && tile.isPartial()) {
            found = tile.full();
            octets = source.read(found);
        }
        if (octets == null) {
            throw new IOException("the log has no " + tile);
        }
        if (octets.length != found.width() * Hash.LENGTH) {
            throw new IOException(
                    found + " is " + octets.length + " octets long and should be " + found.width() * Hash.LENGTH);
        }
        return octets;
    }
}
