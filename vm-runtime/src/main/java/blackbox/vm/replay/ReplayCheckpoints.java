package blackbox.vm.replay;

import blackbox.files.AtomicFiles;
import blackbox.schemas.folder.CaptureName;
import blackbox.vm.SparseCopy;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.confine.ConfinedTool;
import blackbox.vm.process.ReplayLog;
import blackbox.vm.seek.PageStore;
import blackbox.vm.workspace.WorkspaceDisk;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/// Paused machines at instructions of one recording, in a folder: a file `at-INSTRUCTION` for each
/// ([ReplayCheckpoint]), and their shared pages in `pages`. All of it can be made again from the recording.
/// One process at a time may add.
public final class ReplayCheckpoints {
    private static final Duration CONVERT_TIMEOUT = Duration.ofMinutes(1);
    private static final String AT = "at-";
    private static final String PAGES = "pages";

    private final Path folder;
    private final NavigableSet<Long> positions = new TreeSet<>();

    private ReplayCheckpoints(Path folder) {
        this.folder = folder;
    }

    /// The files of a machine whose pages are stored.
    ///
    /// @param ram its RAM
    /// @param state the guest's disk
    /// @param workspace the disk on which the workspace comes back
    record MachineFiles(Path ram, Path state, Path workspace) {}

    /// Opens the folder, which is created if there is none.
    public static ReplayCheckpoints open(Path folder) throws VmException {
        try {
            var checkpoints = new ReplayCheckpoints(Files.createDirectories(folder));
            try (Stream<Path> entries = Files.list(folder)) {
                entries.map(entry -> entry.getFileName().toString())
                        .filter(name -> name.matches(AT + "[0-9]{1,18}"))
                        .forEach(name -> checkpoints.positions.add(Long.parseLong(name.substring(AT.length()))));
            }
            return checkpoints;
        } catch (IOException e) {
            throw new VmException(Code.IO, "the replay checkpoints in " + folder + " cannot be listed", e);
        }
    }

    /// The instructions at which there are checkpoints, ascending.
    public NavigableSet<Long> positions() {
        return Collections.unmodifiableNavigableSet(positions);
    }

    /// Octets on the host's disk.
    public long bytes() throws VmException {
        try (Stream<Path> files = Files.list(folder)) {
            long sum = 0;
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                sum += Files.size(file);
            }
            return sum;
        } catch (IOException e) {
            throw new VmException(Code.IO, "the size of the replay checkpoints in " + folder + " cannot be read", e);
        }
    }

    /// Ignores a checkpoint from now on: it turned out to be damaged.
    public void leaveOut(long position) {
        positions.remove(position);
    }

    /// Adds a machine; does nothing if there is a checkpoint already.
    ///
    /// @param rest the rest of its state
    void add(LiveFiles files, ReplayCheckpoint.Rest rest) throws VmException {
        long position = rest.position();
        if (positions.contains(position)) {
            return;
        }
        Long before = positions.lower(position);
        try (var store = PageStore.open(folder.resolve(PAGES))) {
            ReplayCheckpoint.Tables last =
                    before == null ? ReplayCheckpoint.Tables.NONE : at(before).tables();
            var tables = new ReplayCheckpoint.Tables(
                    store.keep(files.ram(), last.ram()),
                    store.keep(files.state(), last.state()),
                    store.keep(files.workspace(), last.workspace()));
            new ReplayCheckpoint(rest, tables).write(AtomicFiles.onDisk(), file(position));
            positions.add(position);
        }
    }

    /// Restores the files of a machine from a checkpoint.
    ///
    /// @param log the recording's log without its header
    /// @param captures of the recording
    /// @param files to be created
    /// @param logTarget where to write the log that QEMU reads
    /// @return the rest of its state
    /// @throws VmException `IO`, also when something differs from what was stored
    ReplayCheckpoint.Rest restore(long position, InputStream log, Path captures, MachineFiles files, Path logTarget)
            throws VmException {
        ReplayCheckpoint machine = at(position);
        try (var store = PageStore.read(folder.resolve(PAGES))) {
            SparseCopy.make(CaptureName.RAM.in(captures), files.ram());
            store.apply(machine.tables().ram(), files.ram());
            stateAtStart(captures, files.state());
            store.apply(machine.tables().state(), files.state());
            WorkspaceDisk.create(files.workspace());
            store.apply(machine.tables().workspace(), files.workspace());
            log.skipNBytes(machine.rest().logFrom() - ReplayLog.HEADER_BYTES);
            try (OutputStream out = Files.newOutputStream(logTarget)) {
                out.write(machine.rest().head());
                log.transferTo(out);
            }
            return machine.rest();
        } catch (IOException e) {
            throw new VmException(Code.IO, "the replay checkpoint " + file(position) + " could not be used", e);
        }
    }

    private ReplayCheckpoint at(long position) throws VmException {
        return ReplayCheckpoint.read(file(position), position);
    }

    private Path file(long position) {
        return folder.resolve(AT + position);
    }

    /// The guest's disk as it was when the recording began.
    static void stateAtStart(Path captures, Path target) throws VmException {
        ConfinedTool.makeRaw(CaptureName.BASE.in(captures), target, WorkspaceDisk.LENGTH_BYTES, CONVERT_TIMEOUT);
    }
}
