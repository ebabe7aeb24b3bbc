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
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The folder of one running machine on the host: `vm/NAME/`, with a lock that lives as long as its owner. A
/// folder whose lock is free was left by a crash: its QEMU is the process with this working directory, which
/// needs no recorded process id and is unambiguous.
public final class MachineFolder implements AutoCloseable {
    private static final String LOCK = "lock";
    private static final String FRESH = ".new-";
    /// The folder of the sockets, and in it the part that QEMU can use, too.
    private static final String ELSEWHERE = "blackbox-";

    private static final String SHARED = "q";
    private static final String NETWORK = "n";
    private static final String OPEN = "rwx------";
    /// Whoever could make sockets in a folder before cannot any more.
    private static final String CLOSED = "r-x------";

    static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OPEN));

    private static final Duration YOUNG = Duration.ofMinutes(1);
    private static final long FREE_BYTES_MIN = 512L << 20;

    private final DataFolder data;
    private final Path path;
    private final ProcessLock lock;

    private MachineFolder(DataFolder data, Path path, ProcessLock lock) {
        this.data = data;
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
            Path elsewhere = Files.createTempDirectory(ELSEWHERE, OWNER_ONLY);
            Path sockets = Files.createDirectory(elsewhere.resolve(SHARED), OWNER_ONLY);
            Files.createSymbolicLink(hidden.resolve(QemuArguments.SOCKETS), sockets);
            Path path = Files.move(
                    hidden, parent.resolve(hidden.getFileName().toString().substring(FRESH.length())));
            return new MachineFolder(new DataFolder(data), path, lock);
        } catch (IOException e) {
            throw new VmException(Code.IO, "no folder for a VM could be created in " + parent, e);
        }
    }

    /// Ends the machines that crashed processes left running and deletes what they left behind; returns the
    /// number of machines.
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
                    new MachineFolder(new DataFolder(data), folder, lock).close();
                    cleared++;
                }
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, "what crashed runs left in " + parent + " could not be cleaned up", e);
        }
        return cleared;
    }

    /// Where files may be that are as large as a snapshot's.
    Path cache() {
        return data.cache();
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

    /// A folder with a short path that QEMU does not see.
    public Path hidden() throws VmException {
        return Objects.requireNonNull(sockets().getParent());
    }

    /// Lets nobody make another file among the sockets; QEMU cannot change that.
    void closeSockets() throws VmException {
        permit(sockets(), CLOSED);
    }

    /// Lets this user and QEMU make sockets again.
    Path openSockets() throws VmException {
        Path sockets = sockets();
        permit(sockets, OPEN);
        return sockets;
    }

    private static void permit(Path sockets, String permissions) throws VmException {
        try {
            Files.setPosixFilePermissions(sockets, PosixFilePermissions.fromString(permissions));
        } catch (IOException e) {
            throw new VmException(Code.IO, "the permissions of the VM's sockets could not be set", e);
        }
    }

    /// Lets nobody make another file beside the network's socket.
    static void closeNetwork(Path folder) throws VmException {
        permit(folder, CLOSED);
    }

    /// Where the process is that has the machine's network, in the folder of the sockets, see [UserNetwork].
    static Path networkBeside(Path sockets) {
        return sockets.resolveSibling(NETWORK);
    }

    /// Takes a socket that QEMU made from where QEMU could put another file in its place.
    ///
    /// @return where it is now
    public Path takeSocket(String name) throws VmException {
        Path sockets = sockets();
        try {
            return Files.move(sockets.resolve(name), sockets.resolveSibling(name));
        } catch (IOException e) {
            throw new VmException(Code.QEMU_FAILED, "QEMU made no socket '" + name + "'", e);
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
                Path elsewhere = Files.readSymbolicLink(link).getParent();
                // Only a path that we would have created ourselves: the link's target comes from a folder that may
                // be damaged.
                if (elsewhere != null && String.valueOf(elsewhere.getFileName()).startsWith(ELSEWHERE)) {
                    for (String each : List.of(SHARED, NETWORK)) {
                        if (Files.isDirectory(elsewhere.resolve(each), LinkOption.NOFOLLOW_LINKS)) {
                            permit(elsewhere.resolve(each), OPEN);
                        }
                    }
                    ScratchFolder.delete(elsewhere);
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

    /// Those of a machine, and of its network.
    private static void endProcessesIn(Path folder) throws IOException {
        var places = new HashSet<Path>();
        places.add(folder.toRealPath());
        Path sockets = folder.resolve(QemuArguments.SOCKETS);
        if (Files.exists(sockets)) {
            places.add(networkBeside(sockets.toRealPath()));
        }
        ProcessHandle.allProcesses()
                .filter(process -> places.contains(workingDirectory(process.pid())))
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
