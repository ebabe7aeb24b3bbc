package blackbox.replay.inputs;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.verdict.Refusal;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.Sha256;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.FileFingerprint;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.ImageStore;
import blackbox.vm.qemu.Qemu;
import blackbox.vm.qemu.QemuBuilds;
import blackbox.vm.snapshot.VmSnapshot;
import blackbox.vm.workspace.WorkspaceDisk;
import blackbox.vm.workspace.WorkspaceSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/// Finds what a run was started from, and hashes all of it again: file times and lengths are not trusted here. One
/// object, one check, by one thread; another thread hashes the snapshot, whose RAM is most of the data.
public final class InputCheck {

    private final Recordings recordings;
    private final RunId run;
    private final SealedStart start;
    private final @Nullable Path given;
    private final FilesKept kept;
    private final FutureTask<SnapshotFound> snapshot = new FutureTask<>(this::lookAtSnapshot);
    private final List<Refusal> refusals = new ArrayList<>();

    /// The snapshot that a replay starts from, if it is one of the data folder's.
    ///
    /// @param faults which of its files have changed
    private record SnapshotFound(@Nullable VmSnapshot snapshot, List<String> faults) {}

    /// A check of `run`. Its result counts only if the run is verified, before, during or after it.
    ///
    /// @param given a folder that is claimed to be the original workspace, to use instead of the archive; or
    ///     null
    public InputCheck(Recordings recordings, RunId run, SealedStart start, @Nullable Path given) {
        this(
                recordings,
                run,
                start,
                given,
                new FilesKept(recordings.captureFolder(run), () -> SealedCapture.readAll(recordings, run)));
    }

    /// A check of another execution of `run`, which was started as `start` says.
    ///
    /// @param kept what was captured of it
    public InputCheck(Recordings recordings, RunId run, SealedStart start, @Nullable Path given, FilesKept kept) {
        this.recordings = recordings;
        this.run = run;
        this.start = start;
        this.given = given;
        this.kept = kept;
    }

    /// What was captured of an execution.
    ///
    /// @param folder with what its machine starts from, if it was exact
    /// @param captures finds the captured files, by name
    public record FilesKept(Path folder, Finder captures) {}

    /// Finds the captured files of an execution, by name.
    @FunctionalInterface
    public interface Finder {
        /// @throws ReplayException `ALTERED` when what seals one contradicts itself
        Map<String, SealedCapture> find() throws ReplayException, IOException;
    }

    /// The result of a check.
    public sealed interface Result {}

    /// Everything is present and unchanged.
    public record Ready(CheckedInputs inputs) implements Result {}

    /// Something is missing or has changed, and nothing may be started.
    public record Refused(List<Refusal> refusals) implements Result {
        public Refused {
            refusals = List.copyOf(refusals);
        }
    }

    /// Checks everything and collects every difference.
    ///
    /// @param needed the captured files that the replay reads
    /// @throws ReplayException `MISSING` when what is stored beside the run's events was shredded; `ENGINE` when
    ///     something cannot be read at all
    public Result check(Set<String> needed) throws ReplayException, InterruptedException {
        refuseShredded();
        Thread.ofPlatform().daemon().name("input-check-ram").start(snapshot);
        try {
            GuestImage image = image();
            WorkspaceSource workspace = workspace();
            Qemu qemu = qemu();
            Map<String, SealedCapture> captures = captures(needed);
            VmSnapshot snapshot = snapshot();
            return image == null || qemu == null || !refusals.isEmpty()
                    ? new Refused(refusals)
                    : new Ready(new CheckedInputs(image, qemu, snapshot, workspace, captures));
        } catch (VmException | IOException e) {
            throw new ReplayException(Code.ENGINE, "what run " + run + " was started from could not be checked", e);
        }
    }

    private void refuseShredded() throws ReplayException {
        try {
            Payload.refuseShredded(recordings, run);
        } catch (IOException e) {
            throw new ReplayException(Code.ENGINE, String.valueOf(e.getMessage()), e);
        }
    }

    private void refuse(DivergenceClass kind, String what, Object expected, Object actual, String mend) {
        refusals.add(new Refusal(kind, what, expected.toString(), actual.toString(), mend));
    }

    /// The name may belong to a newer image by now: all images are searched for the digest.
    private @Nullable GuestImage image() throws VmException, IOException {
        String what = "the image " + start.imageName();
        Hash named = null;
        for (GuestImage image : new ImageStore(recordings.data()).listForReplay()) {
            if (image.digest().equals(start.image())) {
                return isAsBuilt(image) ? image : null;
            }
            named = named == null && image.name().equals(start.imageName()) ? image.digest() : named;
        }
        String name = start.imageName();
        refuse(
                DivergenceClass.IMAGE,
                what,
                start.image(),
                named == null ? Refusal.NOT_HERE : named,
                named == null
                        ? "blackbox image build " + name + "; it makes the same image if lock and Blackbox are those of"
                                + " the recording"
                        : "a data folder keeps the newest image of each name, and the six that were replaced last: copy"
                                + " images/" + name
                                + " from where the run"
                                + " was recorded, or blackbox image build " + name
                                + " with the Blackbox that recorded it, then blackbox image verify " + name);
        return null;
    }

    private boolean isAsBuilt(GuestImage image) throws VmException, IOException {
        boolean holds = true;
        for (String file : List.of(GuestImage.KERNEL, GuestImage.INITRD, GuestImage.ROOT)) {
            Path path = image.file(file);
            Object actual = Files.exists(path) ? FileFingerprint.hash(path) : Refusal.NOT_HERE;
            if (!actual.equals(image.sha256(file))) {
                refuse(
                        DivergenceClass.IMAGE,
                        "the image " + image.name() + ", file " + file,
                        image.sha256(file),
                        actual,
                        "blackbox image verify " + image.name() + " shows what its packages make; blackbox image build "
                                + image.name() + " repairs it");
                holds = false;
            }
        }
        Hash recorded = image.recordedDigest();
        if (!recorded.equals(start.image())) {
            refuse(
                    DivergenceClass.IMAGE,
                    "the image " + image.name() + ", its record",
                    start.image(),
                    recorded,
                    "blackbox image build " + image.name());
            holds = false;
        }
        return holds;
    }

    /// An exact recording stores the snapshot itself, and does not start from the data folder's.
    private SnapshotFound lookAtSnapshot() throws VmException {
        Hash digest = start.snapshot();
        if (digest == null) {
            return new SnapshotFound(null, List.of());
        }
        if (start.tier() == ReplayMethod.EXACT) {
            return new SnapshotFound(null, VmSnapshot.keptFaults(kept.folder(), digest));
        }
        VmSnapshot found = VmSnapshot.findForReplay(recordings.data(), digest);
        return new SnapshotFound(found, found == null ? List.of() : found.changed());
    }

    private @Nullable VmSnapshot snapshot() throws VmException, InterruptedException {
        SnapshotFound found = looked();
        Hash digest = start.snapshot();
        if (digest == null) {
            return null;
        }
        String files = "the warm snapshot, " + String.join(", ", found.faults());
        if (start.tier() == ReplayMethod.EXACT) {
            if (!found.faults().isEmpty()) {
                refuse(
                        DivergenceClass.SNAPSHOT,
                        files + " in captures/" + run,
                        digest,
                        "different bytes, or none",
                        "copy captures/" + run
                                + " from where the run was recorded, or from a backup; without it the run"
                                + " cannot be replayed");
            }
            return null;
        }
        VmSnapshot snapshot = found.snapshot();
        if (snapshot == null) {
            refuse(
                    DivergenceClass.SNAPSHOT,
                    "the warm snapshot",
                    digest,
                    Refusal.NOT_HERE,
                    "a snapshot cannot be recreated byte for byte, and a data folder keeps the six most recently used: copy"
                            + " its folder below snapshots/ from where the run was recorded, or from a backup");
        } else if (!found.faults().isEmpty()) {
            refuse(
                    DivergenceClass.SNAPSHOT,
                    files,
                    digest,
                    "different bytes",
                    "copy " + snapshot.folder() + " from a backup; without one the run cannot be replayed");
        }
        return snapshot;
    }

    private SnapshotFound looked() throws VmException, InterruptedException {
        try {
            return snapshot.get();
        } catch (ExecutionException e) {
            throw new VmException(
                    VmException.Code.IO, "the snapshot of run " + run + " could not be accessed", e.getCause());
        }
    }

    private @Nullable WorkspaceSource workspace() throws VmException, IOException {
        if (start.workspace().bytes() == 0) {
            return null;
        }
        Path folder = given;
        Payload kept = Payload.of(recordings, run, CaptureName.WORKSPACE.text());
        Object actual = folder == null ? digest(kept) : digest(folder);
        if (!actual.equals(start.workspace().sha256())) {
            refuse(
                    DivergenceClass.IMAGE,
                    folder == null ? "the workspace's archive, " + kept.file() : "the workspace " + folder + ", packed",
                    start.workspace().sha256(),
                    actual,
                    "pass the original workspace with --workspace DIR, or copy captures/" + run + Payload.MEND);
        }
        return folder == null
                ? new WorkspaceSource.Kept(kept.file().toString(), kept::stream)
                : new WorkspaceSource.Given(folder);
    }

    /// The digest of a workspace that is given, or [Refusal#NOT_HERE].
    private Object digest(Path workspace) throws VmException, IOException {
        if (!Files.exists(workspace)) {
            return Refusal.NOT_HERE;
        }
        return Files.isDirectory(workspace) ? packed(workspace) : FileFingerprint.hash(workspace);
    }

    /// The digest of the workspace that was kept, or why there is none.
    private static Object digest(Payload kept) {
        if (!kept.exists()) {
            return Refusal.NOT_HERE;
        }
        MessageDigest digest = Sha256.digest();
        try (InputStream in = kept.stream()) {
            in.transferTo(new DigestOutputStream(OutputStream.nullOutputStream(), digest));
            return Hash.copyOf(digest.digest(), 0);
        } catch (IOException e) {
            return String.valueOf(kept.failure(e).getMessage());
        }
    }

    /// The digest of the archive that a recording would make of `folder`.
    private Hash packed(Path folder) throws VmException {
        try (var scratch = ScratchFolder.ofThisProcess(new DataFolder(recordings.data()).cache(), ".workspace-")) {
            return WorkspaceDisk.create(scratch.path().resolve("disk"))
                    .pack(folder)
                    .sha256();
        }
    }

    private @Nullable Qemu qemu() throws VmException {
        var said = new ArrayList<String>();
        var builds = new QemuBuilds(recordings.data(), said::add);
        Hash digest = start.qemu().digest();
        Qemu qemu = builds.forReplay(digest);
        if (qemu != null && builds.isUnchanged(qemu)) {
            return qemu;
        }
        var here = new ArrayList<>(said);
        for (Qemu each : builds.all()) {
            here.add(
                    each.digest().equals(digest)
                            ? each.place() + " has changed"
                            : each.version() + " " + each.digest());
        }
        refuse(
                DivergenceClass.ENGINE,
                "QEMU: " + start.qemu().version(),
                digest,
                here.isEmpty() ? Refusal.NOT_HERE : String.join("; ", here),
                start.qemu().version().contains("Debian") && start.tier() == ReplayMethod.EXACT
                        ? "blackbox doctor --fix unpacks Debian's QEMU; or copy qemu/" + digest
                                + " from the data folder of the recording"
                        : "install the package of exactly that version (apt-cache policy qemu-system-x86 lists the"
                                + " versions available)");
        return null;
    }

    private Map<String, SealedCapture> captures(Set<String> needed) throws IOException {
        Map<String, SealedCapture> captures;
        try {
            captures = kept.captures().find();
        } catch (ReplayException e) {
            refuse(
                    DivergenceClass.RECORDER_GAP,
                    "the captured files",
                    "consecutive segments",
                    String.valueOf(e.getMessage()),
                    "blackbox verify " + run);
            return Map.of();
        }
        for (String name : new TreeSet<>(needed)) {
            SealedCapture capture = captures.get(name);
            Payload payload = Payload.of(recordings, run, name);
            boolean perhaps = name.equals(CaptureName.PLAINTEXT.text()) && !payload.exists();
            if (capture == null && (perhaps || isEmpty(payload))) {
                continue; // nothing was written to it, and so nothing was sealed
            }
            String fault = capture == null ? Refusal.NOT_HERE : fault(capture);
            if (fault != null) {
                refuse(
                        DivergenceClass.RECORDER_GAP,
                        "the captured file " + name,
                        capture == null ? "a file that the run sealed" : capture.sealedBytes() + " sealed octets",
                        fault,
                        capture == null
                                ? "the run was recorded without it: record it again"
                                : "copy captures/" + run + Payload.MEND);
            }
        }
        return new TreeMap<>(captures);
    }

    private static boolean isEmpty(Payload payload) {
        try (InputStream in = payload.stream()) {
            return in.read() < 0;
        } catch (IOException _) {
            return false; // as if it were not here
        }
    }

    private static @Nullable String fault(SealedCapture capture) throws IOException {
        try {
            capture.check();
            return null;
        } catch (ReplayException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
