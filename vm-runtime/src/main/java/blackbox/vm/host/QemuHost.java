package blackbox.vm.host;

import blackbox.schemas.Progress;
import blackbox.schemas.folder.CaptureName;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.confine.Confinement;
import blackbox.vm.guest.GuestControl;
import blackbox.vm.image.GuestImage;
import blackbox.vm.machine.ClockReading;
import blackbox.vm.machine.GuestMessage.Ready;
import blackbox.vm.machine.MachineEvent;
import blackbox.vm.machine.MachineHost;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.StartFacts;
import blackbox.vm.machine.StartFacts.Hypervisor;
import blackbox.vm.machine.Tier;
import blackbox.vm.machine.TierChoice;
import blackbox.vm.machine.TierOption;
import blackbox.vm.machine.VmRequest;
import blackbox.vm.machine.VmRequest.Start;
import blackbox.vm.process.AgentPipe;
import blackbox.vm.process.ColdBoot;
import blackbox.vm.process.MachineFolder;
import blackbox.vm.process.MachineParts;
import blackbox.vm.process.MachineSockets.Port;
import blackbox.vm.process.QemuArguments;
import blackbox.vm.process.QemuArguments.BlockLog;
import blackbox.vm.process.QemuEvents;
import blackbox.vm.process.QemuProcess;
import blackbox.vm.process.QemuStart;
import blackbox.vm.qemu.Qemu;
import blackbox.vm.qmp.QmpEvent;
import blackbox.vm.snapshot.SnapshotStore;
import blackbox.vm.snapshot.VmSnapshot;
import blackbox.vm.workspace.WorkspaceDisk;
import blackbox.vm.workspace.WorkspaceDisk.Archive;
import blackbox.vm.workspace.WorkspaceSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Starts machines with QEMU.
public final class QemuHost implements MachineHost {

    private final Path data;
    private final Qemu qemu;
    private final SnapshotStore snapshots;
    private final TierChooser tiers;
    private final QemuMachine.Clocks clocks;
    private final Progress progress;

    private QemuHost(Path data, Qemu qemu, QemuMachine.Clocks clocks, Progress progress) {
        this.data = data;
        this.qemu = qemu;
        this.snapshots = new SnapshotStore(data);
        this.tiers = new TierChooser(data, qemu, progress);
        this.clocks = clocks;
        this.progress = progress;
    }

    /// Gets ready to start machines: finds QEMU and clears what crashed runs left behind.
    ///
    /// @param random seeds the guests' generators: must be unpredictable
    /// @throws VmException `QEMU_MISSING`
    public static QemuHost open(Path data, InstantSource clock, RandomGenerator random, Progress progress)
            throws VmException {
        Confinement.prepare();
        Path absolute = data.toAbsolutePath().normalize();
        Qemu qemu = Qemu.find(absolute);
        int cleared = MachineFolder.clearLeftovers(absolute);
        if (cleared > 0) {
            progress.say("cleaned up after " + cleared + " crashed run" + (cleared == 1 ? "" : "s"));
        }
        return new QemuHost(absolute, qemu, new QemuMachine.Clocks(clock, random), progress);
    }

    @Override
    public TierChoice choose(TierOption option, GuestImage image) throws VmException {
        return tiers.choose(option, image);
    }

    /// A QEMU that can replay every instruction, if the guest is emulated, and the warm snapshot of the tier
    /// that is then the default.
    @Override
    public TierChoice prepare(TierOption option, GuestImage image, @Nullable String mirror) throws VmException {
        tiers.prepare(option, image, mirror);
        TierChoice choice = tiers.choose(option, image);
        snapshots.obtain(parts(choice.tier(), image, MachineSize.DEFAULT), progress);
        return choice;
    }

    /// The snapshot that a warm start of this request would restore; created if there is none.
    public VmSnapshot snapshot(VmRequest request) throws VmException {
        return snapshots.obtain(parts(request), progress);
    }

    @Override
    public QemuMachine start(VmRequest request, Consumer<MachineEvent> listener) throws VmException {
        Confinement confinement = Confinement.ofThisProcess();
        if (!confinement.confines()) {
            progress.say("the VM is NOT confined: a guest that breaks out of QEMU has all that this user has");
        }
        MachineParts parts = parts(request);
        VmSnapshot snapshot = request.start() == Start.WARM ? snapshots.obtain(parts, progress) : null;
        Consumer<QmpEvent> events = event -> listener.accept(QemuEvents.of(event));
        MachineFolder folder = MachineFolder.create(data);
        try {
            Archive workspace = workspace(folder, request.workspace());
            return snapshot == null
                    ? cold(folder, parts, request, workspace, events)
                    : restored(folder, parts, request, workspace, snapshot, events);
        } catch (VmException e) {
            folder.close();
            throw e;
        }
    }

    private MachineParts parts(VmRequest request) throws VmException {
        return parts(request.tier(), request.image(), request.size());
    }

    private MachineParts parts(Tier tier, GuestImage image, MachineSize size) throws VmException {
        return switch (tier) {
            case EXACT -> exact(tiers.qemuForExact(image, null), image, size);
            case LIVE ->
                new MachineParts(qemu, image, tiers.accelerator(image), size, Tier.LIVE, 0, qemu.opensRamReadOnly());
        };
    }

    private static MachineParts exact(Qemu exact, GuestImage image, MachineSize size) {
        return MachineParts.exact(exact, image, size, QemuArguments.INSTRUCTION_SHIFT, exact.opensRamReadOnly());
    }

    private static Archive workspace(MachineFolder folder, @Nullable WorkspaceSource workspace) throws VmException {
        WorkspaceDisk.create(folder.file(QemuArguments.WORKSPACE_OUT));
        var in = WorkspaceDisk.create(folder.file(QemuArguments.WORKSPACE_IN));
        return workspace == null ? Archive.NONE : workspace.writeTo(in);
    }

    private QemuMachine cold(
            MachineFolder folder, MachineParts parts, VmRequest request, Archive workspace, Consumer<QmpEvent> listener)
            throws VmException {
        long launched = System.nanoTime();
        var boot = ColdBoot.launch(folder, parts, request.network(), listener);
        try {
            Ready ready = boot.awaitReady();
            var argv = QemuArguments.cold(parts, request.network());
            return running(
                    folder,
                    boot.qemu(),
                    boot.control(),
                    GuestChannels.live(boot.qemu(), null),
                    facts(request, parts, boot.qemu().confinement(), null, argv, ready, workspace),
                    launched);
        } catch (VmException e) {
            boot.close();
            throw e;
        }
    }

    private QemuMachine restored(
            MachineFolder folder,
            MachineParts parts,
            VmRequest request,
            Archive workspace,
            VmSnapshot snapshot,
            Consumer<QmpEvent> listener)
            throws VmException {
        folder.link(QemuArguments.IMAGE, parts.image().folder());
        folder.link(QemuArguments.QEMU, parts.qemu().place());
        folder.link(QemuArguments.SNAPSHOT, snapshot.folder());
        try {
            Files.copy(snapshot.folder().resolve(VmSnapshot.OVERLAY), folder.file(QemuArguments.STATE));
            Files.setAttribute(folder.file(QemuArguments.STATE), "unix:mode", 0600);
        } catch (IOException e) {
            throw new VmException(Code.IO, "the VM's state disk could not be made in " + folder.path(), e);
        }
        var log = capture(folder, request.captures(), parts, snapshot);
        var argv = QemuArguments.restored(parts, request.network(), log);
        long launched = System.nanoTime();
        AgentPipe input = parts.tier() == Tier.EXACT ? new AgentPipe(folder) : null;
        var start = new QemuStart(parts, request.network(), Port.of(parts.tier(), request.network()), argv);
        var process = QemuProcess.launch(folder, start, listener);
        try {
            var control = process.control();
            process.loadDevices(snapshot.folder().resolve(VmSnapshot.DEVICES));
            process.resume();
            Path before = snapshot.folder().resolve(VmSnapshot.EVENTS);
            var channels = input == null
                    ? GuestChannels.live(process, before)
                    : GuestChannels.exact(process, folder, input, before);
            var facts = facts(request, parts, process.confinement(), snapshot, argv, snapshot.ready(), workspace);
            return running(folder, process, control, channels, facts, launched);
        } catch (VmException e) {
            process.close();
            throw e;
        }
    }

    /// Creates the log of writes to the state disk, and stores the disk as it is before these writes.
    private static BlockLog capture(
            MachineFolder folder, @Nullable Path captures, MachineParts parts, VmSnapshot snapshot) throws VmException {
        if (captures == null) {
            return BlockLog.NONE;
        }
        folder.link(QemuArguments.CAPTURE, captures);
        if (parts.tier() == Tier.EXACT) {
            snapshot.keepWhole(captures);
        } else {
            snapshot.keepState(captures);
        }
        try {
            Files.writeString(
                    CaptureName.IMAGE_DIGESTS.in(captures), parts.image().digestText());
            Files.createFile(CaptureName.BLOCKS.in(captures));
        } catch (IOException e) {
            throw new VmException(Code.IO, "the log of the VM's disk could not be made in " + captures, e);
        }
        return BlockLog.KEPT;
    }

    private QemuMachine running(
            MachineFolder folder,
            QemuProcess process,
            GuestControl control,
            GuestChannels channels,
            FactsSoFar facts,
            long launched)
            throws VmException {
        ClockReading clock = control.ping(clocks.wall());
        Duration took = Duration.ofNanos(System.nanoTime() - launched);
        return new QemuMachine(folder, process, control, channels, facts.complete(took, clock), clocks);
    }

    @FunctionalInterface
    private interface FactsSoFar {
        StartFacts complete(Duration took, ClockReading clock);
    }

    private FactsSoFar facts(
            VmRequest request,
            MachineParts parts,
            Confinement confinement,
            @Nullable VmSnapshot snapshot,
            List<String> argv,
            Ready ready,
            Archive workspace) {
        return (took, clock) -> new StartFacts(
                parts.image().name(),
                parts.image().digest(),
                snapshot == null ? null : snapshot.digest(),
                new Hypervisor(parts.qemu().version(), parts.qemu().digest()),
                parts.accelerator(),
                confinement.mechanism(),
                parts.tier(),
                argv,
                parts.size(),
                request.start(),
                took,
                ready,
                workspace,
                clock);
    }
}
