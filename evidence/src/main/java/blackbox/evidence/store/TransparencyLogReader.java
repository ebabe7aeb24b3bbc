package blackbox.evidence.store;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.EntryBundle;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.log.TileSource;
import blackbox.evidence.time.TimeToken;
import blackbox.files.BoundedFiles;
import blackbox.files.RefusedFileException;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads the log of runs (`schemas/log.md`, L2): a folder of static files (C2SP tlog-tiles). Nothing that it
/// returns has been checked. Every call reads the disk again.
public final class TransparencyLogReader implements TileSource {

    /// The longest note that is read.
    public static final int NOTE_BYTES_MAX = 1 << 20;
    private static final String ANCHOR_SUFFIX = ".note";

    /// `<size>.note` and `<size>-<number>.tsr`.
    private static final Pattern ANCHOR_FILE =
            Pattern.compile("(0|[1-9][0-9]{0,17})(?:\\.note|-([1-9][0-9]{0,3})\\.tsr)");

    private final Path folder;

    public TransparencyLogReader(Path folder) {
        this.folder = folder;
    }

    /// A checkpoint's note and its content.
    public record Head(SignedNote note, Checkpoint checkpoint) {

        /// Reads a note's octets; null if they are not a checkpoint.
        public static @Nullable Head parse(byte[] octets) {
            SignedNote note = SignedNote.parse(octets);
            Checkpoint checkpoint = note == null ? null : Checkpoint.parse(note.text());
            return note == null || checkpoint == null ? null : new Head(note, checkpoint);
        }
    }

    /// Receives the log's entries, in order.
    @FunctionalInterface
    public interface EntrySink {
        void accept(long index, byte[] entry) throws IOException;
    }

    /// The log's last checkpoint; null if there is no log yet.
    ///
    /// @throws IOException when it cannot be read or is not a checkpoint
    public @Nullable Head head() throws IOException {
        return head(folder.resolve(TilePath.CHECKPOINT));
    }

    private static @Nullable Head head(Path file) throws IOException {
        try {
            Head head = Head.parse(BoundedFiles.read(file, NOTE_BYTES_MAX));
            if (head == null) {
                throw new IOException(file + " is not a checkpoint");
            }
            return head;
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /// What is stored for one anchored size. The files are read when they are asked for: all together may be more than
    /// fits into memory.
    public record AnchorFile(Path file, List<StampFile> stamps) {

        public String name() {
            return String.valueOf(file.getFileName());
        }

        /// The checkpoint's note; empty if it is missing, or longer than a note can be.
        public byte[] note() throws IOException {
            return octetsOf(file, NOTE_BYTES_MAX);
        }
    }

    /// A stored time stamp.
    public record StampFile(Path file) {

        public String name() {
            return String.valueOf(file.getFileName());
        }

        /// Its octets; none if it is longer than what is read of a time stamp.
        public byte[] octets() throws IOException {
            return octetsOf(file, TimeToken.OCTETS_MAX);
        }
    }

    private static byte[] octetsOf(Path file, int octetsMax) throws IOException {
        try {
            return BoundedFiles.read(file, octetsMax);
        } catch (NoSuchFileException | RefusedFileException e) {
            return new byte[0];
        }
    }

    /// All anchor files, by size, unchecked.
    public List<AnchorFile> anchorFiles() throws IOException {
        Path folder = this.folder.resolve(DataFolder.ANCHORS);
        var sizes = new TreeMap<Long, List<StampFile>>();
        for (Path file : Recordings.entries(folder)) {
            Matcher name = ANCHOR_FILE.matcher(String.valueOf(file.getFileName()));
            if (name.matches()) {
                List<StampFile> stamps = sizes.computeIfAbsent(Long.valueOf(name.group(1)), _ -> new ArrayList<>());
                if (name.group(2) != null) {
                    stamps.add(new StampFile(file));
                }
            }
        }
        var files = new ArrayList<AnchorFile>();
        for (Map.Entry<Long, List<StampFile>> size : sizes.entrySet()) {
            List<StampFile> stamps = size.getValue();
            stamps.sort(Comparator.comparing(StampFile::name));
            files.add(new AnchorFile(folder.resolve(size.getKey() + ANCHOR_SUFFIX), stamps));
        }
        return files;
    }

    @Override
    public byte @Nullable [] read(TilePath tile) throws IOException {
        try {
            return BoundedFiles.read(folder.resolve(tile.path()), tile.bytesMax());
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /// Whether nothing of a log exists.
    public boolean isEmpty() throws IOException {
        return Recordings.entries(folder.resolve("tile")).isEmpty();
    }

    /// The files that hold the tile `index` of `level` (or the entry bundle), full or of an earlier width.
    public List<TilePath> tiles(int level, long index) throws IOException {
        TilePath full = new TilePath(level, index, TilePath.FULL);
        var tiles = new ArrayList<TilePath>();
        if (Files.exists(folder.resolve(full.path()))) {
            tiles.add(full);
        }
        for (Path partial : Recordings.entries(folder.resolve(full.path() + ".p"))) {
            TilePath tile = TilePath.parse(full.path() + ".p/" + partial.getFileName());
            if (tile != null) {
                tiles.add(tile);
            }
        }
        return tiles;
    }

    /// Reads the first `size` entries.
    ///
    /// @throws IOException when one is missing or malformed
    public void entries(long size, EntrySink sink) throws IOException {
        for (long first = 0; first < size; first += TilePath.FULL) {
            TilePath tile = TilePath.entries(first / TilePath.FULL, (int) Math.min(TilePath.FULL, size - first));
            List<byte[]> entries = bundle(tile).entries();
            for (int i = 0; i < tile.width(); i++) {
                sink.accept(first + i, entries.get(i));
            }
        }
    }

    /// A log may drop a partial bundle once the full one exists.
    private EntryBundle bundle(TilePath wanted) throws IOException {
        byte[] octets = read(wanted);
        TilePath tile = octets == null ? wanted.full() : wanted;
        octets = octets == null ? read(tile) : octets;
        EntryBundle bundle = octets == null ? null : EntryBundle.parse(octets, tile.width());
        if (bundle == null) {
            throw new IOException(folder.resolve(wanted.path()) + (octets == null ? " is missing" : " is malformed"));
        }
        return bundle;
    }
}
