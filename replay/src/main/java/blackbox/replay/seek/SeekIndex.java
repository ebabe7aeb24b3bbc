package blackbox.replay.seek;

import blackbox.files.AtomicFiles;
import blackbox.files.ProcessLock;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The known positions at which the tracer's frames leave the guest: `index.json` in a folder. It is a cache:
/// seeking relies on an entry only once it has found the frame again in the replay.
final class SeekIndex {
    private static final int VERSION = 1;
    private static final String FILE = "index.json";
    private static final String LOCK = "index.lock";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path folder;
    private final AtomicFiles files;
    private final TreeMap<Long, Place> places = new TreeMap<>();
    private boolean whole;

    private SeekIndex(Path folder, AtomicFiles files) {
        this.folder = folder;
        this.files = files;
    }

    /// Where a frame leaves the guest.
    ///
    /// @param seq the frame's number on its CPU
    /// @param position the instruction at which the kernel is about to emit it
    /// @param ktimeNs what the guest's clock showed when the frame was made
    record Place(long seq, long position, long ktimeNs) {}

    /// Opens the index in `folder`, which is created if there is none.
    static SeekIndex open(Path folder) throws ReplayException {
        return open(folder, AtomicFiles.onDisk());
    }

    static SeekIndex open(Path folder, AtomicFiles files) throws ReplayException {
        var index = new SeekIndex(folder, files);
        try {
            Files.createDirectories(folder);
            Path file = folder.resolve(FILE);
            if (Files.exists(file)) {
                index.read(JSON.readTree(file.toFile()));
            }
            return index;
        } catch (IOException e) {
            throw new ReplayException(
                    Code.ENGINE, "the index " + folder + " cannot be read; delete it, and it is rebuilt", e);
        }
    }

    private void read(JsonNode stored) {
        if (stored.path("version").asInt() != VERSION) {
            return; // damaged, or put there by someone else: positions are found again
        }
        stored.path("places")
                .forEach(place -> add(new Place(
                        place.path(0).asLong(),
                        place.path(1).asLong(),
                        place.path(2).asLong())));
        whole = stored.path("whole").asBoolean();
    }

    /// Whether a pass has gone through all of the recording.
    boolean isWhole() {
        return whole;
    }

    void add(Place place) {
        places.put(place.seq(), place);
    }

    /// The instruction of the first known position; null if there is none yet.
    @Nullable
    Long begin() {
        return places.isEmpty() ? null : places.firstEntry().getValue().position();
    }

    /// The last known position of a frame at or before `seq`.
    @Nullable
    Place floor(long seq) {
        var entry = places.floorEntry(seq);
        return entry == null ? null : entry.getValue();
    }

    /// The first known position of a frame after `seq`.
    @Nullable
    Place above(long seq) {
        var entry = places.higherEntry(seq);
        return entry == null ? null : entry.getValue();
    }

    /// Merges with what is stored by now: other processes may have added entries, too.
    ///
    /// @param nowWhole whether a pass has gone through all of the recording
    void save(boolean nowWhole) throws ReplayException {
        whole |= nowWhole;
        Path file = folder.resolve(FILE);
        try (ProcessLock _ = ProcessLock.take(folder.resolve(LOCK))) {
            if (Files.exists(file)) {
                boolean ours = whole;
                read(JSON.readTree(file.toFile()));
                whole |= ours;
            }
            ObjectNode stored = JSON.createObjectNode().put("version", VERSION).put("whole", whole);
            var rows = stored.putArray("places");
            places.values()
                    .forEach(place -> rows.addArray()
                            .add(place.seq())
                            .add(place.position())
                            .add(place.ktimeNs()));
            files.replace(file, JSON.writeValueAsBytes(stored));
        } catch (IOException e) {
            throw new ReplayException(Code.ENGINE, "the index " + folder + " cannot be written", e);
        }
    }
}
