package blackbox.vm;

import blackbox.files.ProcessLock;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A temporary folder that is deleted when this is closed.
public final class ScratchFolder implements AutoCloseable {

    private static final String LOCK = "lock";
    private static final String FRESH = ".new";

    /// Ample between making a folder and locking it.
    private static final Duration YOUNG = Duration.ofMinutes(1);

    private final Path path;
    private final @Nullable ProcessLock lock;

    private ScratchFolder(Path path, @Nullable ProcessLock lock) {
        this.path = path;
        this.lock = lock;
    }

    /// Where it is.
    public Path path() {
        return path;
    }

    /// A fresh folder in `parent`, which is created if it is missing.
    public static ScratchFolder in(Path parent, String prefix) throws VmException {
        try {
            Files.createDirectories(parent);
            return new ScratchFolder(Files.createTempDirectory(parent, prefix), null);
        } catch (IOException e) {
            throw new VmException(Code.IO, "no folder could be created in " + parent, e);
        }
    }

    /// A fresh folder with a file `lock` that this process has locked. Those with this prefix whose lock is free
    /// are deleted first: a killed process left them, and what is in them may be what a run saw. A number of the
    /// process would not tell, for another container has others.
    public static ScratchFolder ofThisProcess(Path parent, String prefix) throws VmException {
        try {
            Files.createDirectories(parent);
            clearLeft(parent, prefix);
            // It gets its name only once it is locked: nobody who clears leftovers ever sees it free.
            Path hidden = Files.createTempDirectory(parent, FRESH + prefix);
            ProcessLock lock = ProcessLock.tryTake(hidden.resolve(LOCK));
            if (lock == null) {
                throw new VmException(Code.BUSY, hidden + " is locked by another process");
            }
            return new ScratchFolder(
                    Files.move(
                            hidden,
                            parent.resolve(hidden.getFileName().toString().substring(FRESH.length()))),
                    lock);
        } catch (IOException e) {
            throw new VmException(Code.IO, "no folder could be made in " + parent, e);
        }
    }

    /// Deletes the folders with this prefix that a killed process left, see [#ofThisProcess].
    public static void clearLeft(Path parent, String prefix) throws IOException, VmException {
        if (!Files.isDirectory(parent)) {
            return;
        }
        try (Stream<Path> all = Files.list(parent)) {
            for (Path each : all.toList()) {
                String name = String.valueOf(each.getFileName());
                boolean left = name.startsWith(prefix) || name.startsWith(FRESH + prefix) && !isYoung(each);
                if (left && Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS)) {
                    deleteLeft(each);
                }
            }
        }
    }

    private static boolean isYoung(Path folder) throws IOException {
        try {
            return Files.getLastModifiedTime(folder)
                    .toInstant()
                    .isAfter(Instant.now().minus(YOUNG));
        } catch (NoSuchFileException e) {
            return true; // it has just got its name
        }
    }

    private static void deleteLeft(Path folder) throws IOException, VmException {
        try (ProcessLock free = ProcessLock.tryTake(folder.resolve(LOCK))) {
            if (free != null) {
                delete(folder);
            }
        } catch (NoSuchFileException e) {
            return; // its owner or somebody else has deleted it meanwhile
        } catch (VmException e) {
            if (!isBeingDeleted(e)) {
                throw e;
            }
        }
    }

    /// Whether somebody else was deleting the folder at the same moment.
    private static boolean isBeingDeleted(VmException e) {
        return e.getCause() instanceof NoSuchFileException || e.getCause() instanceof DirectoryNotEmptyException;
    }

    @Override
    public void close() throws VmException {
        try (ProcessLock _ = lock) {
            delete(path);
        } catch (VmException e) {
            if (lock == null || !isBeingDeleted(e)) {
                throw e;
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, "the lock of " + path + " could not be released", e);
        }
    }

    /// Deletes the folders with this prefix that crashed processes left in `parent`. The caller ensures that none
    /// is in use.
    public static void clear(Path parent, String prefix) throws VmException {
        try (Stream<Path> all = Files.list(parent)) {
            for (Path each : all.toList()) {
                if (String.valueOf(each.getFileName()).startsWith(prefix)) {
                    delete(each);
                }
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, parent + " could not be listed", e);
        }
    }

    /// Deletes `path` and everything below it, following no links; does nothing if it does not exist. Its lock goes
    /// last: without it the rest would look as if somebody had left it.
    public static void delete(Path path) throws VmException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Path last = path.resolve(LOCK);
        try (Stream<Path> all = Files.walk(path)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                if (!each.equals(last) && !each.equals(path)) {
                    Files.delete(each);
                }
            }
            Files.deleteIfExists(last);
            Files.delete(path);
        } catch (UncheckedIOException e) {
            throw new VmException(Code.IO, path + " could not be deleted", e.getCause());
        } catch (IOException e) {
            throw new VmException(Code.IO, path + " could not be deleted", e);
        }
    }
}
