package blackbox.vm.process;

import blackbox.files.ProcessLock;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The folder of one running machine on the host: `vm/NAME/`, with a lock that lives as long as its owner. A
/// folder whose lock is free was left by a crash: its QEMU is the process with this working directory, which
/// needs no recorded process id and is unambiguous.
public final class MachineFolder implements AutoCloseable {
    private static final String LOCK = "lock";
    private static final String FRESH = ".new-";
    private static final Duration YOUNG = Duration.ofMinutes(1);
    private static final long FREE_BYTES_MIN = 512L << 20;

    private final Path path;
    private final ProcessLock lock;

    private MachineFolder(Path path, ProcessLock lock) {
        this.path = path;
        this.lock = lock;
    }

    /// A fresh folder below `data`, locked by this process, with a place for sockets.
    ///
    /// @throws VmException `DISK_FULL`
    public static MachineFolder create(Path data) throws VmException {
        Path parent = new DataFolder(data).machines();
        try {
            Files.createDirectories(parent);
            if (Files.getFileStore(parent).getUsableSpace() < FREE_BYTES_MIN) {
                throw new VmException(
                        Code.DISK_FULL, "a VM needs at least 512 MiB free at " + parent + "; make room there");
            }
            // The folder gets its name only once it is locked, so a process that clears leftovers never sees it
            // unlocked.
            Path hidden = Files.createTempDirectory(parent, FRESH);
            ProcessLock lock = lock(hidden);
            if (lock == null) {
                throw new VmException(Code.BUSY, hidden + " is locked by another process");
            }
            // Socket paths may have only 107 bytes (unix(7)); a data folder may be deep, so sockets are
            // elsewhere.
            Path sockets = Files.createTempDirectory(
                    "blackbox-", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Files.createSymbolicLink(hidden.resolve(QemuArguments.SOCKETS), sockets);
            Path path = Files.move(
                    hidden, parent.resolve(hidden.getFileName().toString().substring(FRESH.length())));
            return new MachineFolder(path, lock);
        } catch (IOException e) {
            throw new VmException(Code.IO, "no folder for a VM could be created in " + parent, e);
        }
    }

    /// Ends the machines that crashed processes left running and deletes what they left behind; returns the number
    /// of machines.
    public static int clearLeftovers(Path data) throws VmException {
        Path parent = new DataFolder(data).machines();
        if (!Files.isDirectory(parent)) {
            return 0;
        }
        int cleared = 0;
        try (Stream<Path> all = Files.list(parent)) {
            for (Path folder : all.toList()) {
                // A folder that is being created is briefly unlocked.
                if (folder.getFileName().toString().startsWith(FRESH) && isYoung(folder)) {
                    continue;
                }
                ProcessLock lock = lock(folder);
                if (lock != null) {
                    endProcessesIn(folder);
                    new MachineFolder(folder, lock).close();
                    cleared++;
                }
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, "what crashed runs left in " + parent + " could not be cleaned up", e);
        }
        return cleared;
    }

    public Path path() {
        return path;
    }

    public Path file(String name) {
        return path.resolve(name);
    }

    /// The folder with a short path in which sockets are made.
    public Path sockets() throws VmException {
        try {
            return file(QemuArguments.SOCKETS).toRealPath();
        } catch (IOException e) {
            throw new VmException(Code.IO, "the folder of the VM's sockets is gone", e);
        }
    }

    public void makeFolder(String name) throws VmException {
        try {
            Files.createDirectory(file(name));
        } catch (IOException e) {
            throw new VmException(Code.IO, file(name) + " could not be made", e);
        }
    }

    public void link(String name, Path target) throws VmException {
        try {
            Files.createSymbolicLink(file(name), target.toAbsolutePath());
        } catch (IOException e) {
            throw new VmException(Code.IO, file(name) + " could not be made", e);
        }
    }

    /// Deletes the folder and releases the lock.
    @Override
    public void close() throws VmException {
        try (lock) {
            Path link = file(QemuArguments.SOCKETS);
            if (Files.isSymbolicLink(link)) {
                Path sockets = Files.readSymbolicLink(link);
                // Only a path that we would have created ourselves: the link's target comes from a folder that may
                // be damaged.
                if (String.valueOf(sockets.getFileName()).startsWith("blackbox-")) {
                    ScratchFolder.delete(sockets);
                }
            }
            ScratchFolder.delete(path);
        } catch (IOException e) {
            throw new VmException(Code.IO, path + " could not be deleted", e);
        }
    }

    private static @Nullable ProcessLock lock(Path folder) throws IOException {
        return Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS) ? ProcessLock.tryTake(folder.resolve(LOCK)) : null;
    }

    private static boolean isYoung(Path folder) throws IOException {
        return Files.getLastModifiedTime(folder)
                .toInstant()
                .isAfter(Instant.now().minus(YOUNG));
    }

    private static void endProcessesIn(Path folder) throws IOException {
        Path real = folder.toRealPath();
        ProcessHandle.allProcesses()
                .filter(process -> real.equals(workingDirectory(process.pid())))
                .forEach(process -> {
                    process.destroyForcibly();
                    process.onExit().join();
                });
    }

    private static @Nullable Path workingDirectory(long pid) {
        try {
            return Files.readSymbolicLink(Path.of("/proc", Long.toString(pid), "cwd"));
        } catch (IOException e) {
            return null; // it has ended, or is another user's
        }
    }
}
