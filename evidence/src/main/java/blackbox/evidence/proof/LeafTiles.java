package blackbox.evidence.proof;

import blackbox.evidence.log.TilePath;
import blackbox.evidence.log.TreeHasher;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.row.LeafCodec;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/// The hashes of a run's leaves, computed from its rows on demand: level 0 of its tiles, which is not stored.
/// Rows that are read on the way to a tile are hashed too and kept for a while. Owned by one thread.
final class LeafTiles {

    private static final int OCTETS_KEPT = 32 << 20;

    /// 2 million leaves' hashes.
    private static final int TILES_KEPT = 1 << 13;

    /// Reading starts at a multiple of this many leaves, whose rows share a row group, which is decoded
    /// anyway.
    private static final int READ_AHEAD = 1 << 16;

    private final Recordings recordings;
    private final RunId run;
    private final TreeHasher hasher = new TreeHasher();
    private final byte[] buffer = new byte[LeafCodec.BYTES_MAX];
    /// The leaves that the last pass read, up to [#OCTETS_KEPT] octets in all.
    private final Map<Long, byte[]> passed = new HashMap<>();

    private final Map<Long, byte[]> kept = new LinkedHashMap<>(16, 0.75f, true);

    LeafTiles(Recordings recordings, RunId run) {
        this.recordings = recordings;
        this.run = run;
    }

    /// The hashes of the `width` leaves from `index * 256` on.
    ///
    /// @throws IOException when one of them is missing from the recording
    byte[] tile(long index, int width) throws IOException {
        byte[] tile = kept.get(index);
        if (tile == null || tile.length < width * Hash.LENGTH) {
            tile = read(index, width);
        }
        return tile.length == width * Hash.LENGTH ? tile : Arrays.copyOf(tile, width * Hash.LENGTH);
    }

    private byte[] read(long index, int width) throws IOException {
        long from = index * TilePath.FULL;
        long end = from + width;
        passed.clear();
        int octets = 0;
        try (RunReader reader = RunReader.open(recordings, run, from - from % READ_AHEAD)) {
            byte[] tile = new byte[0];
            long next = -1;
            int filled = 0;
            while (reader.next() && reader.index() < end) {
                long at = reader.index();
                if (at % TilePath.FULL == 0) {
                    tile = new byte[TilePath.FULL * Hash.LENGTH];
                    filled = 0;
                } else if (at != next) {
                    break;
                }
                byte[] leaf = octets(reader);
                hasher.leaf(leaf).copyTo(tile, (int) (at % TilePath.FULL) * Hash.LENGTH);
                octets += leaf.length;
                if (octets < OCTETS_KEPT || at >= from) {
                    passed.put(at, leaf);
                }
                next = at + 1;
                if (++filled == TilePath.FULL) {
                    keep(at / TilePath.FULL, tile);
                }
            }
            if (next != end || filled < width) {
                throw new IOException("events " + from + " to " + (end - 1) + " of run " + run
                        + " are incomplete; `blackbox verify` shows what is missing");
            }
            return filled == TilePath.FULL ? tile : keep(index, Arrays.copyOf(tile, width * Hash.LENGTH));
        }
    }

    /// The octets of a leaf.
    ///
    /// @throws IOException when the recording has no such event
    byte[] leaf(long index) throws IOException {
        byte[] there = passed.get(index);
        if (there != null) {
            return there;
        }
        try (RunReader reader = RunReader.open(recordings, run, index)) {
            if (reader.next() && reader.index() == index) {
                return octets(reader);
            }
        }
        throw new IOException("run " + run + " has no event " + index);
    }

    private byte[] octets(RunReader reader) throws IOException {
        try {
            return Arrays.copyOf(buffer, reader.leaf(buffer, 0));
        } catch (IllegalArgumentException e) {
            throw new IOException("run " + run + " cannot be read: " + e.getMessage(), e);
        }
    }

    private byte[] keep(long index, byte[] tile) {
        kept.put(index, tile);
        if (kept.size() > TILES_KEPT) {
            kept.remove(kept.keySet().iterator().next());
        }
        return tile;
    }
}
