package blackbox.evidence.log;

import blackbox.schemas.Hash;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Names one tile of a log (C2SP tlog-tiles): `tile/<level>/<index>`, with `.p/<width>` if it is partial.
/// Level [#ENTRIES] is `tile/entries/…`: the leaves themselves.
public record TilePath(int level, long index, int width) {

    /// The file beside the tiles that has the log's last checkpoint.
    public static final String CHECKPOINT = "checkpoint";

    /// The level of entry bundles.
    public static final int ENTRIES = -1;

    /// The number of hashes, or entries, of a full tile.
    public static final int FULL = 256;

    /// Levels of the tree that one level of tiles spans.
    static final int HEIGHT = 8;

    private static final int LEVEL_MAX = 63;
    private static final Pattern FORM =
            Pattern.compile("tile/(entries|0|[1-9][0-9]?)/((?:x[0-9]{3}/)*[0-9]{3})" + "(?:\\.p/([1-9][0-9]{0,2}))?");

    public TilePath {
        if (level < ENTRIES || level > LEVEL_MAX || index < 0 || width < 1 || width > FULL) {
            throw new IllegalArgumentException("no tile: level " + level + ", index " + index + ", width " + width);
        }
    }

    /// The entry bundle `index`.
    public static TilePath entries(long index, int width) {
        return new TilePath(ENTRIES, index, width);
    }

    /// The tile `index` of `level` as a tree of `size` leaves has it: full, or partial at the right edge;
    /// null if the tree does not reach it.
    public static @Nullable TilePath of(int level, long index, long size) {
        int shift = HEIGHT * Math.max(level, 0);
        long hashes = shift >= Long.SIZE ? 0 : size >>> shift;
        long first = index * FULL;
        boolean beyond = index < 0 || index > Long.MAX_VALUE / FULL || first >= hashes;
        return beyond ? null : new TilePath(level, index, (int) Math.min(FULL, hashes - first));
    }

    /// The tiles and entry bundles to write when a tree has grown: each that is new or wider, as a tree of
    /// `newSize` leaves has it.
    public static List<TilePath> grown(long oldSize, long newSize) {
        var tiles = new ArrayList<TilePath>();
        for (int level = ENTRIES; level < 0 || level * HEIGHT < Long.SIZE && newSize >>> level * HEIGHT > 0; level++) {
            int shift = HEIGHT * Math.max(level, 0);
            if (oldSize >>> shift == newSize >>> shift) {
                continue;
            }
            long index = (oldSize >>> shift) / FULL;
            for (TilePath tile = of(level, index, newSize); tile != null; tile = of(level, ++index, newSize)) {
                tiles.add(tile);
            }
        }
        return tiles;
    }

    /// Whether it is missing hashes that a larger tree would fill in.
    public boolean isPartial() {
        return width < FULL;
    }

    /// The full tile at the same place.
    public TilePath full() {
        return new TilePath(level, index, FULL);
    }

    /// The most octets that the file can have: the hashes, or as many entries of the greatest length.
    public int bytesMax() {
        return width * (level == ENTRIES ? Short.BYTES + EntryBundle.ENTRY_LENGTH_MAX : Hash.LENGTH);
    }

    /// The path below the log's prefix.
    public String path() {
        var path = new StringBuilder(String.format("%03d", index % 1000));
        for (long rest = index / 1000; rest > 0; rest /= 1000) {
            path.insert(0, String.format("x%03d/", rest % 1000));
        }
        path.insert(0, "tile/" + (level == ENTRIES ? "entries" : level) + "/");
        return isPartial() ? path + ".p/" + width : path.toString();
    }

    /// Reads what [#path] writes, and nothing else; null for anything else.
    public static @Nullable TilePath parse(String path) {
        Matcher matcher = FORM.matcher(path);
        if (!matcher.matches()) {
            return null;
        }
        try {
            String level = matcher.group(1);
            String width = matcher.group(3);
            var tile = new TilePath(
                    "entries".equals(level) ? ENTRIES : Integer.parseInt(level),
                    Long.parseLong(matcher.group(2).replace("x", "").replace("/", "")),
                    width == null ? FULL : Integer.parseInt(width));
            return tile.path().equals(path) ? tile : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    @Override
    public String toString() {
        return path();
    }
}
