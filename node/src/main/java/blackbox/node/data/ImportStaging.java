package blackbox.node.data;

import blackbox.files.AtomicFiles;
import blackbox.files.Folders;
import blackbox.files.ProcessLock;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Where an import is assembled, a folder laid out as the data folder, `imported/.taking`, and how all of it gets
/// into place or none of it. One import at a time for each data folder.
///
/// What is to be moved is written down first; the run's own folder, which alone makes it a run of this data folder,
/// is moved last. Whoever comes after a kill moves back what was moved: a place whose staged original is gone.
public final class ImportStaging implements AutoCloseable {

    private static final String STAGING = ".taking";
    private static final String MOVES = "moves";
    private static final int MOVES_BYTES_MAX = 1 << 16;

    /// Called after each step; what it throws ends the import there, as a kill would. For tests.
    @FunctionalInterface
    public interface Steps {
        void after(String step) throws IOException;
    }

    private final DataFolder data;
    private final DataFolder staged;
    private final ProcessLock lock;
    private final Steps steps;

    private ImportStaging(DataFolder data, ProcessLock lock, Steps steps) {
        this.data = data;
        this.staged = new DataFolder(data.imported().resolve(STAGING));
        this.lock = lock;
        this.steps = steps;
    }

    /// An empty one; null while another process imports.
    public static @Nullable ImportStaging tryOpen(DataFolder data, Steps steps) throws IOException {
        Folders.create(data.imported());
        ProcessLock lock = ProcessLock.tryTake(data.imported().resolve(DataFolder.LOCK));
        if (lock == null) {
            return null;
        }
        var staging = new ImportStaging(data, lock, steps);
        try {
            staging.clear();
            Folders.create(staging.staged.root());
            return staging;
        } catch (IOException e) {
            lock.close();
            throw e;
        }
    }

    /// Clears what a killed import left, if there is something and nobody imports at the moment.
    public static void clearLeft(DataFolder data) throws IOException {
        if (!Files.exists(data.imported().resolve(STAGING), LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try (ProcessLock lock = ProcessLock.tryTake(data.imported().resolve(DataFolder.LOCK))) {
            if (lock != null) {
                new ImportStaging(data, lock, _ -> {}).clear();
            }
        }
    }

    /// The folder to assemble it in, laid out as a data folder.
    public DataFolder folder() {
        return staged;
    }

    /// Says that a step was taken.
    ///
    /// @throws IOException from a test
    public void step(String step) throws IOException {
        steps.after(step);
    }

    /// Moves a run, and what else is there of it, into place.
    ///
    /// @throws FileAlreadyExistsException when something is there already; nothing was taken then
    public void publish(RunId run) throws IOException {
        List<Path> moves = List.of(
                        data.captures(run),
                        data.runKeys().resolve(run + ".key"),
                        data.importedImages(),
                        data.importedQemu(),
                        data.importedSnapshots(),
                        data.importedRun(run))
                .stream()
                .flatMap(each -> each.startsWith(data.imported()) && !each.equals(data.importedRun(run))
                        ? entries(staged(each)).stream().map(entry -> each.resolve(entry.getFileName()))
                        : List.of(each).stream())
                .filter(each -> Files.exists(staged(each), LinkOption.NOFOLLOW_LINKS))
                .toList();
        for (Path target : moves) {
            if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
                throw new FileAlreadyExistsException(target.toString());
            }
        }
        var text = new StringBuilder(run.value()).append('\n');
        moves.forEach(each -> text.append(data.root().relativize(each)).append('\n'));
        AtomicFiles.onDisk()
                .replace(staged.root().resolve(MOVES), text.toString().getBytes(StandardCharsets.UTF_8));
        step("moves written");
        for (Path target : moves) {
            Folders.create(target.resolveSibling("."));
            AtomicFiles.put(staged(target), target);
            step("moved " + data.root().relativize(target));
        }
    }

    private Path staged(Path target) {
        return staged.root().resolve(data.root().relativize(target));
    }

    private static List<Path> entries(Path folder) {
        try (var all = Files.isDirectory(folder) ? Files.list(folder) : Stream.<Path>empty()) {
            return all.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Moves nothing further, and takes back what was moved unless all of it was.
    private void clear() throws IOException {
        byte[] moves = AtomicFiles.onDisk().read(staged.root().resolve(MOVES), MOVES_BYTES_MAX);
        try {
            if (moves != null) {
                takeBack(new String(moves, StandardCharsets.UTF_8).lines().toList());
            }
            ScratchFolder.delete(staged.root());
        } catch (VmException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private void takeBack(List<String> lines) throws IOException, VmException {
        if (Files.exists(data.importedRun(new RunId(lines.getFirst())))) {
            return; // it was the last one
        }
        for (String line : lines.subList(1, lines.size())) {
            Path target = data.root().resolve(line);
            if (!Files.exists(staged(target), LinkOption.NOFOLLOW_LINKS)) {
                delete(target);
            }
        }
    }

    private static void delete(Path target) throws IOException, VmException {
        if (Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS)) {
            ScratchFolder.delete(target);
        } else {
            AtomicFiles.delete(target);
        }
    }

    /// Deletes what is left of it.
    @Override
    public void close() throws IOException {
        try (lock) {
            clear();
        }
    }
}
