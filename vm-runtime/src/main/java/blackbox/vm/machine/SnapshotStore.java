package blackbox.vm.machine;

import blackbox.files.AtomicFiles;
import blackbox.schemas.Hash;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.Command;
import blackbox.vm.FolderLock;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.Progress;
import blackbox.vm.machine.Accelerator.Kind;
import blackbox.vm.machine.GuestMessage.Ready;
import blackbox.vm.machine.QemuArguments.BlockLog;
import blackbox.vm.qemu.Qemu;
import blackbox.vm.workspace.WorkspaceDisk;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/// The warm snapshots of a data folder, `snapshots/KEY/`. The key is made of everything that a snapshot
/// depends on, so a snapshot never has to be asked whether it is stale: when anything changes, the key
/// does.
final class SnapshotStore {
    private static final int KEPT = 3;
    private static final long FREE_BYTES_MIN = 2L << 30;
    private static final long EVENTS_BYTES_MAX = 16 << 20;
    private static final String SCRATCH = ".making-";

    private final Path data;
    private final Path folder;

    SnapshotStore(Path data) {
        this.data = data;
        this.folder = new DataFolder(data).snapshots();
    }

    /// What a snapshot is made of.
    ///
    /// @param instructionShift nanoseconds of the guest's time that an instruction takes, as a power of two; of no
    ///     meaning in the live tier
    record Parts(Qemu qemu, GuestImage image, Accelerator accelerator, int memoryMib, Tier tier, int instructionShift) {
        Hash key() throws VmException {
            // Those of the exact tier have been made otherwise since decision 0086.
            var text = new StringBuilder("blackbox-snapshot-key-" + (tier == Tier.EXACT ? "v2\n" : "v1\n"));
            text.append(image.digest()).append('\n');
            text.append(qemu.digest()).append(' ').append(qemu.version()).append('\n');
            text.append(QemuArguments.restored(this, Network.NONE, BlockLog.KEPT))
                    .append('\n');
            if (accelerator.kind() == Kind.KVM) {
                text.append(AcceleratorProbe.hostKernel()).append('\n').append(hostProcessor());
            }
            return Hash.sha256(text.toString().getBytes(StandardCharsets.UTF_8));
        }

        /// Of the exact tier, which counts instructions and so is always emulated.
        static Parts exact(Qemu qemu, GuestImage image, int memoryMib, int instructionShift) {
            var emulated = new Accelerator(Kind.TCG, "the exact tier counts instructions, which only emulation does");
            return new Parts(qemu, image, emulated, memoryMib, Tier.EXACT, instructionShift);
        }

        private static String hostProcessor() throws VmException {
            try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
                return lines.filter(line -> line.startsWith("model name") || line.startsWith("flags"))
                        .limit(2)
                        .reduce("", String::concat);
            } catch (IOException e) {
                throw new VmException(Code.IO, "the host's processor could not be identified", e);
            }
        }
    }

    /// The snapshot of these parts; made when there is none, by one process at a time.
    VmSnapshot obtain(Parts parts, Progress progress) throws VmException {
        Path place = folder.resolve(parts.key().toString());
        if (VmSnapshot.exists(place)) {
            return touch(VmSnapshot.open(place));
        }
        try (var lock = FolderLock.take(folder)) {
            if (VmSnapshot.exists(place)) {
                return touch(VmSnapshot.open(place));
            }
            progress.say("first start of this image: making a warm snapshot");
            ScratchFolder.clear(folder, SCRATCH);
            prune();
            return make(parts, place, lock);
        } catch (IOException e) {
            throw new VmException(Code.IO, "the snapshots in " + folder + " could not be used", e);
        }
    }

    /// @param lock that the caller holds
    private VmSnapshot make(Parts parts, Path place, FolderLock lock) throws VmException, IOException {
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
                ReplayLog.makeHeader(parts.qemu(), target);
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

    private static Ready boot(Parts parts, MachineFolder machine, Path target) throws VmException, IOException {
        try (var booted = ColdBoot.launch(machine, parts, Network.NONE, event -> {});
                OutputStream events = Files.newOutputStream(target.resolve(VmSnapshot.EVENTS))) {
            var port = booted.events();
            // No run looks at these: before `ready` there is nothing that could send one for itself.
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

    static void makeOverlay(Path folder, String name) throws VmException {
        // The path is the one that it has from a machine's folder, so it need not exist here.
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

    /// Keeps the snapshots that were used last. A running VM has its files open and does not notice.
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
