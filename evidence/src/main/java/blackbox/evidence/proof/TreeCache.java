package blackbox.evidence.proof;

import blackbox.evidence.log.MerkleFrontier;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.files.BoundedFiles;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.row.LeafCodec;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A run's tiles from level 1 on, and where its batches end, stored on disk so that a proof reads a few rows
/// instead of all.
///
/// It is made by one pass over the run's leaves and extended by a pass over new ones. Nothing in it is
/// trusted; whoever finds it wrong discards it with [#clear]. Several processes may extend it at the same
/// time: files are replaced whole.
final class TreeCache {

    private static final String ENDS = "batch-ends";
    private static final int LEVELS = 7;

    private final Recordings recordings;
    private final RunId run;
    private final Path folder;
    private long[] ends = new long[0];

    /// @param folder where it is stored
    TreeCache(Recordings recordings, RunId run, Path folder) throws IOException {
        this.recordings = recordings;
        this.run = run;
        this.folder = folder;
        load();
    }

    private void load() throws IOException {
        try {
            byte[] octets = Files.readAllBytes(folder.resolve(ENDS));
            ends = new long[octets.length / Long.BYTES];
            ByteBuffer.wrap(octets).asLongBuffer().get(ends);
        } catch (NoSuchFileException e) {
            ends = new long[0];
        }
    }

    /// The number of leaves that it covers: up to the end of a batch.
    long size() {
        return ends.length == 0 ? 0 : ends[ends.length - 1];
    }

    /// A tile of level 1 or above; null if there is none.
    byte @Nullable [] read(TilePath tile) throws IOException {
        try {
            return BoundedFiles.read(folder.resolve(tile.path()), tile.bytesMax());
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /// Discards everything.
    void clear() throws IOException {
        ends = new long[0];
        if (Files.isDirectory(folder)) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    /// Extends the cache to the run's last batch so far.
    void grow() throws IOException {
        long from = size();
        try (RunReader reader = RunReader.open(recordings, run, from - from % TilePath.FULL)) {
            new Growth(from).take(reader);
        }
    }

    /// One pass over new leaves. Level 0 is a frontier over 256 leaves; each level above is the tile that is
    /// being filled.
    private final class Growth {

        private final ByteArrayOutputStream[] tiles = new ByteArrayOutputStream[LEVELS];
        private final long[] filled = new long[LEVELS];
        private final long[] was = new long[LEVELS];
        private final byte[] leaf = new byte[1 + LeafCodec.BYTES_MAX];
        private final ByteArrayOutputStream newEnds = new ByteArrayOutputStream();
        private MerkleFrontier span = new MerkleFrontier();
        private long next;

        Growth(long size) throws IOException {
            next = size - size % TilePath.FULL;
            for (long end : ends) {
                newEnds.writeBytes(ByteBuffer.allocate(Long.BYTES).putLong(end).array());
            }
            long hashes = size;
            for (int level = 1; level < LEVELS; level++) {
                hashes /= TilePath.FULL;
                filled[level] = hashes;
                was[level] = hashes;
                tiles[level] = new ByteArrayOutputStream();
                int width = (int) (hashes % TilePath.FULL);
                if (width > 0) {
                    byte[] tile = TreeCache.this.read(new TilePath(level, hashes / TilePath.FULL, width));
                    if (tile == null || tile.length != width * Hash.LENGTH) {
                        throw new DamagedCacheException("the cache in " + folder + " lacks a tile");
                    }
                    tiles[level].writeBytes(tile);
                }
            }
        }

        void take(RunReader reader) throws IOException {
            long size = size();
            while (reader.next() && reader.index() == next) {
                int end = leafOf(reader);
                span.append(leaf, 1, end - 1);
                if (span.size() == TilePath.FULL) {
                    push(1, span.root());
                    span = new MerkleFrontier();
                }
                next++;
                if (reader.checkpoint() != null && next > size) {
                    newEnds.writeBytes(
                            ByteBuffer.allocate(Long.BYTES).putLong(next).array());
                }
            }
            for (int level = 1; level < LEVELS; level++) {
                if (filled[level] > was[level] && filled[level] % TilePath.FULL != 0) {
                    store(level, filled[level] - 1, tiles[level].toByteArray());
                }
            }
            write(folder.resolve(ENDS), newEnds.toByteArray());
            load();
        }

        private int leafOf(RunReader reader) throws IOException {
            try {
                return reader.leaf(leaf, 1);
            } catch (IllegalArgumentException e) {
                throw new IOException("run " + run + " cannot be read: " + e.getMessage(), e);
            }
        }

        private void push(int level, Hash hash) throws IOException {
            if (level == LEVELS) {
                return;
            }
            tiles[level].writeBytes(hash.toBytes());
            filled[level]++;
            if (filled[level] % TilePath.FULL == 0) {
                byte[] tile = tiles[level].toByteArray();
                store(level, filled[level] - 1, tile);
                tiles[level].reset();
                var above = new MerkleFrontier();
                for (int i = 0; i < TilePath.FULL; i++) {
                    above.append(Hash.copyOf(tile, i * Hash.LENGTH));
                }
                push(level + 1, above.root());
            }
        }

        private void store(int level, long last, byte[] tile) throws IOException {
            var path = new TilePath(level, last / TilePath.FULL, tile.length / Hash.LENGTH);
            write(folder.resolve(path.path()), tile);
        }
    }

    private static void write(Path file, byte[] octets) throws IOException {
        Path parent = file.toAbsolutePath().getParent();
        if (parent == null) {
            throw new IOException(file + " has no folder");
        }
        Files.createDirectories(parent);
        Path temporary = parent.resolve("." + UUID.randomUUID());
        Files.write(temporary, octets);
        try {
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (AtomicMoveNotSupportedException e) {
            Files.move(temporary, file, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /// The end of the batch that holds leaf `index`; -1 if no batch does yet.
    long endAfter(long index) {
        int at = Arrays.binarySearch(ends, index + 1);
        int found = at >= 0 ? at : -at - 1;
        return found == ends.length ? -1 : ends[found];
    }

    /// The end of the batch before the one that ends at `end`: 0 for the first; -1 if no batch ends there.
    long endBefore(long end) {
        int at = Arrays.binarySearch(ends, end);
        return at < 0 ? -1 : at == 0 ? 0 : ends[at - 1];
    }
}
