package blackbox.evidence.proof;

import blackbox.evidence.log.SubtreeHashes;
import blackbox.evidence.log.TileHashes;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.log.TileSource;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.nio.file.Path;

/// A run's tree: level 0 from its rows, the levels above from the cache. Owned by one thread.
final class RunTree implements TileSource {

    private final Recordings recordings;
    private final RunId run;
    private final TreeCache cache;
    private final LeafTiles leaves;

    RunTree(Recordings recordings, RunId run, Path cache) throws IOException {
        this.recordings = recordings;
        this.run = run;
        this.cache = new TreeCache(recordings, run, cache);
        this.leaves = new LeafTiles(recordings, run);
    }

    TreeCache cache() {
        return cache;
    }

    /// The subtrees of the tree of the leaves that the cache covers.
    SubtreeHashes hashes() {
        return new TileHashes(this, cache.size());
    }

    @Override
    public byte[] read(TilePath tile) throws IOException {
        if (tile.level() == 0) {
            return leaves.tile(tile.index(), tile.width());
        }
        byte[] octets = cache.read(tile);
        if (octets == null || octets.length != tile.width() * Hash.LENGTH) {
            throw new DamagedCacheException("the cache of run " + run + " lacks " + tile);
        }
        return octets;
    }

    /// The octets of a leaf.
    ///
    /// @throws IOException when the recording has no such event
    byte[] leaf(long index) throws IOException {
        return leaves.leaf(index);
    }

    /// The note that the batch that ends with leaf `index` carries.
    ///
    /// @throws DamagedCacheException when no batch ends there
    String checkpoint(long index) throws IOException {
        try (RunReader reader = RunReader.open(recordings, run, index)) {
            String note = reader.next() && reader.index() == index ? reader.checkpoint() : null;
            if (note == null) {
                throw new DamagedCacheException("no batch of run " + run + " ends with event " + index);
            }
            return note;
        }
    }
}
