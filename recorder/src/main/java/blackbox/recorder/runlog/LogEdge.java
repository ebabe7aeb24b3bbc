package blackbox.recorder.runlog;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.EntryBundle;
import blackbox.evidence.log.MerkleFrontier;
import blackbox.evidence.log.TileHashes;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.log.TileSource;
import blackbox.evidence.log.TreeHasher;
import blackbox.evidence.log.TreeProver;
import blackbox.schemas.Hash;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The right edge of a tiled log: the tiles that are not full yet, to which leaves are appended in memory. Read from
/// the log's own files each time, and checked against the checkpoint that is signed.
final class LogEdge {

    private final TreeHasher hasher = new TreeHasher();
    private final MerkleFrontier tree;
    private final List<byte[]> entries;

    /// Hashes of the tile that is not full, by level of tiles.
    private final List<List<Hash>> tiles;

    /// Full tiles and bundles completed since.
    private final Map<TilePath, byte[]> filled = new LinkedHashMap<>();

    private final long sizeBefore;

    private LogEdge(MerkleFrontier tree, List<byte[]> entries, List<List<Hash>> tiles) {
        this.tree = tree;
        this.entries = entries;
        this.tiles = tiles;
        this.sizeBefore = tree.size();
    }

    /// The edge of an empty log.
    static LogEdge empty() {
        return new LogEdge(new MerkleFrontier(), new ArrayList<>(), new ArrayList<>());
    }

    /// Reads the edge of the tree that `checkpoint` signs.
    ///
    /// @throws IOException when a tile is missing or does not belong to that tree
    static LogEdge read(TileSource source, Checkpoint checkpoint) throws IOException {
        long size = checkpoint.size();
        var hashes = new TileHashes(source, size);
        if (!new TreeProver(hashes).root(size).equals(checkpoint.root())) {
            throw new IOException("its tiles do not lead to the root of its checkpoint over " + size + " leaves");
        }
        var octets = new ByteArrayOutputStream();
        for (int level = Long.SIZE - 2; level >= 0; level--) {
            if ((size >>> level & 1) != 0) {
                octets.writeBytes(hashes.at(level, (size >>> level) - 1).toBytes());
            }
        }
        var tiles = new ArrayList<List<Hash>>();
        for (int level = 0; size >>> 8 * level > 0 && level < 7; level++) {
            tiles.add(partial(hashes, level, size));
        }
        return new LogEdge(MerkleFrontier.of(size, octets.toByteArray()), entries(source, size, tiles), tiles);
    }

    private static List<Hash> partial(TileHashes hashes, int level, long size) throws IOException {
        long there = size >>> 8 * level;
        var tile = new ArrayList<Hash>();
        for (long index = there - there % TilePath.FULL; index < there; index++) {
            tile.add(hashes.at(8 * level, index));
        }
        return tile;
    }

    /// The leaves of the bundle that is not full, each checked against its hash.
    private static List<byte[]> entries(TileSource source, long size, List<List<Hash>> tiles) throws IOException {
        int width = (int) (size % TilePath.FULL);
        if (width == 0) {
            return new ArrayList<>();
        }
        TilePath path = TilePath.entries(size / TilePath.FULL, width);
        byte[] octets = source.read(path);
        EntryBundle bundle = octets == null ? null : EntryBundle.parse(octets, width);
        if (bundle == null) {
            throw new IOException("the log has no complete " + path);
        }
        var hasher = new TreeHasher();
        List<Hash> expected = tiles.getFirst();
        for (int i = 0; i < width; i++) {
            if (!hasher.leaf(bundle.entries().get(i)).equals(expected.get(i))) {
                throw new IOException("leaf " + i + " of " + path + " is not the one that its tile names");
            }
        }
        return new ArrayList<>(bundle.entries());
    }

    long size() {
        return tree.size();
    }

    Hash root() {
        return tree.root();
    }

    /// Appends a leaf.
    void append(byte[] leaf) {
        long index = tree.size();
        Hash hash = hasher.leaf(leaf);
        tree.append(hash);
        entries.add(leaf);
        if (entries.size() == TilePath.FULL) {
            filled.put(TilePath.entries(index / TilePath.FULL, TilePath.FULL), new EntryBundle(entries).encoded());
            entries.clear();
        }
        add(0, index, hash);
    }

    private void add(int level, long index, Hash hash) {
        if (level == tiles.size()) {
            tiles.add(new ArrayList<>());
        }
        List<Hash> tile = tiles.get(level);
        tile.add(hash);
        if (tile.size() == TilePath.FULL) {
            long number = index / TilePath.FULL;
            filled.put(new TilePath(level, number, TilePath.FULL), octets(tile));
            Hash root = root(tile);
            tile.clear();
            add(level + 1, number, root);
        }
    }

    private Hash root(List<Hash> nodes) {
        List<Hash> level = nodes;
        while (level.size() > 1) {
            var above = new ArrayList<Hash>();
            for (int i = 0; i < level.size(); i += 2) {
                above.add(hasher.node(level.get(i), level.get(i + 1)));
            }
            level = above;
        }
        return level.getFirst();
    }

    /// The tiles and bundles to write, full ones first: all that changed since the edge was read.
    Map<TilePath, byte[]> changed() {
        var changed = new LinkedHashMap<>(filled);
        for (TilePath tile : TilePath.grown(sizeBefore, size())) {
            if (tile.isPartial()) {
                changed.put(
                        tile,
                        tile.level() == TilePath.ENTRIES
                                ? new EntryBundle(entries).encoded()
                                : octets(tiles.get(tile.level())));
            }
        }
        return changed;
    }

    private static byte[] octets(List<Hash> tile) {
        var octets = new byte[tile.size() * Hash.LENGTH];
        for (int i = 0; i < tile.size(); i++) {
            tile.get(i).copyTo(octets, i * Hash.LENGTH);
        }
        return octets;
    }
}
