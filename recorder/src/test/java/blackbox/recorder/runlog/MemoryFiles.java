package blackbox.recorder.runlog;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// [LogFiles] in memory, which keeps no more of the contract than it must: names that were not synced are there after a
/// crash or not, as a seed decides. Counts its operations and lets one of them fail, before or after it took effect.
final class MemoryFiles implements LogFiles {

    /// How an operation fails.
    enum Failure {
        /// It had no effect.
        FAILED,
        /// It took effect, and the caller hears that it did not.
        FAILED_BUT_PERSISTED,
        /// Half of what was to be written is there.
        TORN
    }

    private final Random random;
    private final Map<Path, byte[]> files = new TreeMap<>();
    private final Set<Path> folders = new HashSet<>();

    /// What each folder's names were when it was last synced, where they have changed since.
    private final Map<Path, byte @Nullable []> unsynced = new HashMap<>();

    private int operations;
    private int failAt = -1;
    private Failure failure = Failure.FAILED;
    private boolean down;

    MemoryFiles(long seed) {
        this.random = new Random(seed);
    }

    /// Lets the operation with that number from now on fail; all later ones fail too, until [#restart].
    void failAt(int operation, Failure how) {
        operations = 0;
        failAt = operation;
        failure = how;
    }

    /// How many operations there were since [#failAt].
    int operations() {
        return operations;
    }

    boolean isDown() {
        return down;
    }

    /// The machine comes up again: what was not synced is there or not.
    void restart() {
        for (Map.Entry<Path, byte @Nullable []> change : unsynced.entrySet()) {
            byte[] before = change.getValue();
            if (random.nextBoolean()) {
                continue;
            }
            if (before == null) {
                files.remove(change.getKey());
            } else {
                files.put(change.getKey(), before);
            }
        }
        unsynced.clear();
        down = false;
        failAt = -1;
    }

    /// The file names there are.
    List<Path> names() {
        return new ArrayList<>(files.keySet());
    }

    /// Changes a file behind the log's back.
    void put(Path file, byte @Nullable [] octets) {
        if (octets == null) {
            files.remove(file);
        } else {
            files.put(file, octets);
        }
    }

    private interface Effect {
        void take();
    }

    private void step(Effect whole, Effect half) throws IOException {
        if (down) {
            throw new IOException("the process was killed");
        }
        if (operations++ != failAt) {
            whole.take();
            return;
        }
        down = true;
        switch (failure) {
            case FAILED -> {}
            case FAILED_BUT_PERSISTED -> whole.take();
            case TORN -> half.take();
        }
        throw new IOException("injected: " + failure);
    }

    private void step(Effect whole) throws IOException {
        step(whole, () -> {});
    }

    private void set(Path file, byte @Nullable [] octets) {
        unsynced.putIfAbsent(file, files.get(file));
        put(file, octets);
    }

    @Override
    public byte @Nullable [] read(Path file) {
        byte[] octets = files.get(file);
        return octets == null ? null : octets.clone();
    }

    @Override
    public boolean exists(Path file) {
        return files.containsKey(file) || folders.contains(file);
    }

    @Override
    public void createFolders(Path folder) throws IOException {
        step(() -> {
            for (Path each = folder; each != null; each = each.getParent()) {
                folders.add(each);
            }
        });
    }

    @Override
    public void write(Path file, byte[] octets) throws IOException {
        assertTrue(folders.contains(file.getParent()), () -> "no folder for " + file);
        step(() -> set(file, octets.clone()), () -> set(file, java.util.Arrays.copyOf(octets, octets.length / 2)));
    }

    @Override
    public void rename(Path file, Path target) throws IOException {
        step(() -> {
            byte[] octets = files.get(file);
            assertTrue(octets != null, () -> "nothing at " + file);
            set(target, octets);
            set(file, null);
        });
    }

    @Override
    public void sync(Path folder) throws IOException {
        step(() -> unsynced.keySet().removeIf(file -> folder.equals(file.getParent())));
    }

    @Override
    public void deleteFolder(Path folder) throws IOException {
        step(() ->
                names().stream().filter(file -> folder.equals(file.getParent())).forEach(file -> set(file, null)));
    }
}
