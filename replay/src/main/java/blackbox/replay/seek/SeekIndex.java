package blackbox.replay.seek;

import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// What is known of where the tracer's frames leave the guest, and the machines that were kept: a folder with
/// `index.json` and a folder for each machine. It is a cache: a reader takes nothing from it on trust that it
/// does not meet again on the way.
final class SeekIndex {
    private static final int VERSION = 1;
    private static final String FILE = "index.json";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path folder;
    private final TreeMap<Long, Long> positionBySeq = new TreeMap<>();
    private final TreeMap<Long, Path> kept = new TreeMap<>();
    private boolean whole;

    private SeekIndex(Path folder) {
        this.folder = folder;
    }

    /// Where a frame leaves the guest.
    ///
    /// @param seq the frame's number on its CPU
    /// @param position the instruction at which the kernel is about to emit it
    record Place(long seq, long position) {}

    /// Opens the index in `folder`, which is made when there is none.
    static SeekIndex open(Path folder) throws ReplayException {
        var index = new SeekIndex(folder);
        try {
            Files.createDirectories(folder);
            Path file = folder.resolve(FILE);
            if (Files.exists(file)) {
                index.read(JSON.readTree(file.toFile()));
            }
            return index;
        } catch (IOException e) {
            throw new ReplayException(
                    Code.ENGINE, "the index " + folder + " cannot be read; delete it and it is made again", e);
        }
    }

    private void read(JsonNode stored) {
        if (stored.path("version").asInt() != VERSION) {
            return; // made by another Blackbox: it is made anew
        }
        stored.path("places")
                .forEach(place ->
                        positionBySeq.put(place.path(0).asLong(), place.path(1).asLong()));
        for (JsonNode position : stored.path("kept")) {
            Path machine = machine(position.asLong());
            if (Files.isDirectory(machine)) {
                kept.put(position.asLong(), machine);
            }
        }
        whole = stored.path("whole").asBoolean();
    }

    /// Whether a pass has gone through all of the recording.
    boolean isWhole() {
        return whole;
    }

    /// The folder for a machine that is kept at `position`.
    Path machine(long position) {
        return folder.resolve("at-" + position);
    }

    void add(Place place) {
        positionBySeq.put(place.seq(), place.position());
    }

    void addKept(long position) {
        kept.put(position, machine(position));
    }

    /// The last known place of a frame at or before `seq`.
    @Nullable
    Place floor(long seq) {
        var entry = positionBySeq.floorEntry(seq);
        return entry == null ? null : new Place(entry.getKey(), entry.getValue());
    }

    /// The first known place of a frame behind `seq`.
    @Nullable
    Place above(long seq) {
        var entry = positionBySeq.higherEntry(seq);
        return entry == null ? null : new Place(entry.getKey(), entry.getValue());
    }

    /// The machine that was kept last at or before `position`; null when only the start is there.
    @Nullable
    Path keptBefore(long position) {
        var entry = kept.floorEntry(position);
        return entry == null ? null : entry.getValue();
    }

    int keptCount() {
        return kept.size();
    }

    /// Writes what was added.
    void save(boolean nowWhole) throws ReplayException {
        whole |= nowWhole;
        ObjectNode stored = JSON.createObjectNode().put("version", VERSION).put("whole", whole);
        var places = stored.putArray("places");
        positionBySeq.forEach((seq, position) -> places.addArray().add(seq).add(position));
        var positions = stored.putArray("kept");
        kept.keySet().forEach(positions::add);
        Path fresh = folder.resolve(FILE + ".new");
        try {
            JSON.writeValue(fresh.toFile(), stored);
            Files.move(fresh, folder.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new ReplayException(Code.ENGINE, "the index " + folder + " cannot be written", e);
        }
    }
}
