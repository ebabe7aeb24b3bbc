package blackbox.query.log;

import blackbox.query.store.RunsLog;
import blackbox.schemas.Hash;
import blackbox.schemas.log.EntryBundle;
import blackbox.schemas.log.MerkleFrontier;
import blackbox.schemas.log.TilePath;
import blackbox.schemas.log.TreeHasher;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Computes a log's tiles and entry bundles again from its leaves and compares every file with them: whoever is served
/// a proof from them gets one that holds. Partial ones of earlier sizes must be what the full one begins with; those of
/// a size that was never signed (a writer was killed) are passed over. Owned by one thread; memory: one tile a level.
final class TileCheck {

    private final RunsLog files;
    private final TreeHasher hasher = new TreeHasher();
    private final MerkleFrontier tree = new MerkleFrontier();
    private final List<Level> levels = new ArrayList<>();
    private final Level bundle = new Level();
    private @Nullable String fault;

    /// The tile, or the entry bundle, that is being filled at a level.
    private static final class Level {
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

    TileCheck(RunsLog files) {
        this.files = files;
    }

    void append(byte[] leaf) throws IOException {
        bundle.add(new EntryBundle(List.of(leaf)).encoded());
        if (bundle.isFull()) {
            compare(TilePath.ENTRIES, bundle);
            bundle.next();
        }
        Hash hash = hasher.leaf(leaf);
        tree.append(hash);
        append(0, hash);
    }

    private void append(int at, Hash hash) throws IOException {
        if (at == levels.size()) {
            levels.add(new Level());
        }
        Level level = levels.get(at);
        level.add(hash.toBytes());
        level.subtree.append(hash);
        if (level.isFull()) {
            compare(at, level);
            Hash root = level.subtree.root();
            level.next();
            append(at + 1, root);
        }
    }

    /// The root over what was appended.
    Hash root() {
        return tree.root();
    }

    /// After the last leaf: what is wrong with the tiles, or null.
    @Nullable
    String fault() throws IOException {
        compareRest(TilePath.ENTRIES, bundle);
        for (int at = 0; at < levels.size(); at++) {
            compareRest(at, levels.get(at));
        }
        return fault;
    }

    private void compareRest(int at, Level level) throws IOException {
        if (!level.ends.isEmpty()) {
            compare(at, level);
        }
    }

    private void compare(int at, Level level) throws IOException {
        byte[] expected = level.octets.toByteArray();
        TilePath wanted = new TilePath(at, level.index, level.ends.size());
        boolean found = false;
        for (TilePath tile : files.tiles(at, level.index)) {
            if (tile.width() > wanted.width()) {
                continue;
            }
            found |= tile.equals(wanted);
            byte[] octets = files.read(tile);
            byte[] beginning = Arrays.copyOf(expected, level.ends.get(tile.width() - 1));
            if (octets != null && !Arrays.equals(octets, beginning) && fault == null) {
                fault = tile + " is not that of this tree";
            }
        }
        if (!found && fault == null) {
            fault = wanted + " is missing";
        }
    }
}
