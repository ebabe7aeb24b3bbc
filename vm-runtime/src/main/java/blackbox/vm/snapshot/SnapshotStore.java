package blackbox.vm.snapshot;

import blackbox.files.AtomicFiles;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.Command;
import blackbox.vm.FolderLock;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.machine.GuestMessage.Ready;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.Tier;
import blackbox.vm.process.ColdBoot;
import blackbox.vm.process.FrameTap;
import blackbox.vm.process.MachineFolder;
import blackbox.vm.process.MachineParts;
import blackbox.vm.process.QemuArguments;
import blackbox.vm.process.ReplayLog;
import blackbox.vm.workspace.WorkspaceDisk;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/// The warm snapshots of a data folder, `snapshots/KEY/`. The key covers everything that a snapshot depends
/// on, so a snapshot is never stale: if anything changes, so does the key.
public final class SnapshotStore {
    private static final int KEPT = 6;
    private static final long FREE_BYTES_MIN = 2L << 30;
    private static final long EVENTS_BYTES_MAX = 16 << 20;
    private static final String SCRATCH = ".making-";

    private final Path data;
    private final Path folder;

    public SnapshotStore(Path data) {
        this.data = data;
        this.folder = new DataFolder(data).snapshots();
    }

    /// The snapshot of these parts; created if there is none, by one process at a time.
    public VmSnapshot obtain(MachineParts parts, Progress progress) throws VmException {
        Path place = folder.resolve(parts.key().toString());
        if (VmSnapshot.exists(place)) {
            return touch(VmSnapshot.open(place));
        }
        try (var lock = FolderLock.take(folder, progress)) {
            if (VmSnapshot.exists(place)) {
                return touch(VmSnapshot.open(place));
            }
            progress.say("first start of this image: creating a warm snapshot");
            ScratchFolder.clear(folder, SCRATCH);
            prune();
            return make(parts, place, lock);
        } catch (IOException e) {
            throw new VmException(Code.IO, "the snapshots in " + folder + " could not be used", e);
        }
    }

    /// @param lock held by the caller
    private VmSnapshot make(MachineParts parts, Path place, FolderLock lock) throws VmException, IOException {
        Objects.requireNonNull(lock);
        if (Files.getFileStore(folder).getUsableSpace() < FREE_BYTES_MIN) {
            throw new VmException(
                    Code.DISK_FULL, "a warm snapshot needs 2 GiB free at " + folder + "; make room there");
        }
        ScratchFolder.delete(place);
        try (var scratch = ScratchFolder.in(folder, SCRATCH);
                var machine = MachineFolder.create(data)) {
            Path target = Files.createDirectory(scratch.path().resolve("snapshot"));
            Ready ready = boot(parts, machine, target);
            if (parts.tier() == Tier.EXACT) {
                DeviceStream.beginHere(target.resolve(VmSnapshot.DEVICES), parts.instructionShift());
                ReplayLog.makeHeader(parts.qemu(), target, target.resolve(VmSnapshot.HEADER));
            }
            Files.move(machine.file(QemuArguments.RAM), target.resolve(VmSnapshot.RAM));
            Command.of("qemu-img", "convert", "-f", "raw", "-O", "qcow2", QemuArguments.STATE, stateOf(target))
                    .in(machine.path())
                    .run();
            makeOverlay(target);
            VmSnapshot.seal(target, ready);
            AtomicFiles.rename(target, place);
            return VmSnapshot.open(place);
        }
    }

    private static String stateOf(Path target) {
        return target.resolve(VmSnapshot.STATE).toAbsolutePath().toString();
    }

    private static Ready boot(MachineParts parts, MachineFolder machine, Path target) throws VmException, IOException {
        try (var booted = ColdBoot.launch(machine, parts, Network.NONE, event -> {});
                OutputStream events = Files.newOutputStream(target.resolve(VmSnapshot.EVENTS))) {
            var port = booted.events();
            // These frames are not recorded: before `ready` nothing in the guest sends frames of its own accord.
            Thread framesOut = FrameTap.discard(booted.qemu().framesOut());
            Thread framesIn = FrameTap.discard(booted.qemu().framesIn());
            var copy = new BoundedCopy(port, events, EVENTS_BYTES_MAX);
            Thread copying = Thread.ofVirtual().start(copy);
            Ready ready = booted.awaitReady();
            booted.qemu().saveDevices(target.resolve(VmSnapshot.DEVICES));
            booted.qemu().end();
            copying.join();
            framesOut.join();
            framesIn.join();
            copy.check();
            return ready;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while a snapshot was made", e);
        }
    }

    /// An empty overlay over the snapshot's state disk; every run gets a copy of it.
    private static void makeOverlay(Path target) throws VmException {
        makeOverlay(target, VmSnapshot.OVERLAY);
    }

    public static void makeOverlay(Path folder, String name) throws VmException {
        // The path is relative to a machine's folder, so it need not exist here.
        String base = QemuArguments.SNAPSHOT + "/" + VmSnapshot.STATE;
        String length = Long.toString(WorkspaceDisk.LENGTH_BYTES);
        Command.of("qemu-img", "create", "-q", "-u", "-f", "qcow2", "-b", base, "-F", "qcow2", name, length)
                .in(folder)
                .run();
    }

    private static VmSnapshot touch(VmSnapshot snapshot) throws VmException {
        try {
            Files.setLastModifiedTime(snapshot.folder(), FileTime.fromMillis(System.currentTimeMillis()));
            return snapshot;
        } catch (IOException e) {
            throw new VmException(Code.IO, snapshot.folder() + " could not be touched", e);
        }
    }

    /// Keeps the most recently used snapshots. A running VM has its files open and does not notice.
    private void prune() throws VmException, IOException {
        List<Path> all;
        try (Stream<Path> listed = Files.list(folder)) {
            all = listed.filter(Files::isDirectory)
                    .sorted(Comparator.comparingLong(
                                    (Path each) -> each.toFile().lastModified())
                            .reversed())
                    .toList();
        }
        for (Path old : all.stream().skip(KEPT - 1).toList()) {
            ScratchFolder.delete(old);
        }
    }
}
