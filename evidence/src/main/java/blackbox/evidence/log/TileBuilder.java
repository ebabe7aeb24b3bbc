package blackbox.evidence.log;

import blackbox.schemas.Hash;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Computes a log's tiles and entry bundles (C2SP tlog-tiles) from its leaves, in order, and hands out each
/// once: when it is full, or at the end with its width so far. Owned by one thread; memory: one bundle, and
/// one tile per level.
public final class TileBuilder {

    private final Sink sink;
    private final TreeHasher hasher = new TreeHasher();
    private final MerkleFrontier tree = new MerkleFrontier();
    private final List<Growing> levels = new ArrayList<>();
    private final Growing bundle = new Growing();

    /// Receives what was computed.
    @FunctionalInterface
    public interface Sink {
        void accept(TilePath path, Tile tile) throws IOException;
    }

    public TileBuilder(Sink sink) {
        this.sink = sink;
    }

    /// A tile's or a bundle's octets, valid until the sink returns.
    public static final class Tile {

        private final byte[] octets;
        private final List<Integer> ends;

        private Tile(byte[] octets, List<Integer> ends) {
            this.octets = octets;
            this.ends = ends;
        }

        /// The whole tile.
        public byte[] octets() {
            return octets;
        }

        /// The tile as of the time when it held `width` hashes, or entries.
        public byte[] octets(int width) {
            return Arrays.copyOf(octets, ends.get(width - 1));
        }
    }

    /// The tile, or the bundle, that is being filled.
    private static final class Growing {
        private final ByteArrayOutputStream octets = new ByteArrayOutputStream();
        private final List<Integer> ends = new ArrayList<>();
        private MerkleFrontier subtree = new MerkleFrontier();
        private long index;

        boolean isFull() {
            return ends.size() == TilePath.FULL;
        }

        void add(byte[] more) {
            octets.writeBytes(more);
            ends.add(octets.size());
        }

        void next() {
            octets.reset();
            ends.clear();
            subtree = new MerkleFrontier();
            index++;
        }
    }

    /// Appends the next leaf, at most [EntryBundle#ENTRY_LENGTH_MAX] octets.
    public void append(byte[] leaf) throws IOException {
        bundle.add(new EntryBundle(List.of(leaf)).encoded());
        if (bundle.isFull()) {
            give(TilePath.ENTRIES, bundle);
            bundle.next();
        }
        Hash hash = hasher.leaf(leaf);
        tree.append(hash);
        append(0, hash);
    }

    private void append(int at, Hash hash) throws IOException {
        if (at == levels.size()) {
            levels.add(new Growing());
        }
        Growing level = levels.get(at);
        level.add(hash.toBytes());
        level.subtree.append(hash);
        if (level.isFull()) {
            give(at, level);
            Hash root = level.subtree.root();
            level.next();
            append(at + 1, root);
        }
    }

    /// Hands out the partial ones. Nothing may be appended afterwards.
    public void finish() throws IOException {
        giveRest(TilePath.ENTRIES, bundle);
        for (int at = 0; at < levels.size(); at++) {
            giveRest(at, levels.get(at));
        }
    }

    private void giveRest(int at, Growing level) throws IOException {
        if (!level.ends.isEmpty()) {
            give(at, level);
        }
    }

    private void give(int at, Growing level) throws IOException {
        var path = new TilePath(at, level.index, level.ends.size());
        sink.accept(path, new Tile(level.octets.toByteArray(), level.ends));
    }

    /// The number of leaves so far.
    public long size() {
        return tree.size();
    }

    /// The root over the leaves so far.
    public Hash root() {
        return tree.root();
    }
}
