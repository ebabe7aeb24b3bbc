package blackbox.evidence.tiles;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TileBuilder;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.schemas.RunId;
import blackbox.schemas.row.LeafCodec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Writes a run's own log as static files (C2SP tlog-tiles), leaves and all, for any web server to serve and
/// any C2SP client to read. It takes about 32 octets per event more than the leaves themselves, so it is made
/// only on request.
public final class StaticRunLog {

    private StaticRunLog() {}

    /// What was written.
    ///
    /// @param note the run's last checkpoint, or null if the recording has none
    public record Written(long leaves, @Nullable SignedNote note) {}

    /// Writes `checkpoint`, `tile/…` and `tile/entries/…` below `folder`, up to the run's last checkpoint:
    /// later leaves are not signed yet. The checkpoint is written last.
    ///
    /// @throws IOException when something cannot be read or written, or the leaves do not lead to the signed root
    public static Written write(Recordings recordings, RunId run, Path folder) throws IOException {
        Last last = last(recordings, run);
        if (last == null) {
            return new Written(0, null);
        }
        var tiles = new TileBuilder((path, tile) -> put(folder, path, tile.octets()));
        var leaf = new byte[LeafCodec.BYTES_MAX];
        try (RunReader reader = RunReader.open(recordings, run, 0)) {
            while (tiles.size() < last.checkpoint.size() && reader.next()) {
                tiles.append(Arrays.copyOf(leaf, reader.leaf(leaf, 0)));
            }
        }
        tiles.finish();
        if (!tiles.root().equals(last.checkpoint.root())) {
            throw new IOException("the events of run " + run + " do not lead to the root that its checkpoint signs;"
                    + " `blackbox verify` shows where they differ");
        }
        Files.write(folder.resolve(TilePath.CHECKPOINT), last.note.encoded().getBytes(StandardCharsets.UTF_8));
        return new Written(tiles.size(), last.note);
    }

    private static void put(Path folder, TilePath path, byte[] octets) throws IOException {
        Path file = folder.resolve(path.path());
        Files.createDirectories(file.resolveSibling("."));
        Files.write(file, octets);
    }

    /// The text of a run's last checkpoint, which fixes all of its events up to there; null if it has none.
    public static @Nullable String lastCheckpoint(Recordings recordings, RunId run) throws IOException {
        Last last = last(recordings, run);
        return last == null ? null : last.note.text();
    }

    private record Last(SignedNote note, Checkpoint checkpoint) {}

    private static @Nullable Last last(Recordings recordings, RunId run) throws IOException {
        String text = null;
        try (RunReader reader = RunReader.open(recordings, run, 0)) {
            while (reader.next()) {
                text = reader.checkpoint() == null ? text : reader.checkpoint();
            }
        }
        SignedNote note = text == null ? null : SignedNote.parse(text);
        Checkpoint checkpoint = note == null ? null : Checkpoint.parse(note.text());
        return note == null || checkpoint == null ? null : new Last(note, checkpoint);
    }
}
