package blackbox.vm.qemu;

import blackbox.files.AtomicFiles;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.FileFingerprint;
import blackbox.vm.FolderFingerprint;
import blackbox.vm.FolderLock;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.AptSources;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.PackageArchive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The QEMUs that a data folder can use: the installed one and those unpacked below `qemu/`. Several
/// processes may use one data folder at once.
public final class QemuBuilds {
    private static final String SCRATCH = ".fetch-";

    private final Path data;
    private final Path folder;
    private final Path aptConfiguration;
    private final Progress progress;

    /// The builds below a data folder.
    public QemuBuilds(Path data, Progress progress) {
        this(data, AptSources.CONFIGURATION, progress);
    }

    /// The same, with `aptConfiguration` in place of the machine's `/etc/apt`.
    QemuBuilds(Path data, Path aptConfiguration, Progress progress) {
        this.data = data.toAbsolutePath().normalize();
        this.aptConfiguration = aptConfiguration;
        this.folder = new DataFolder(this.data).qemu();
        this.progress = progress;
    }

    /// Every unpacked build whose files are unchanged, the newest first; the others are reported to progress.
    public List<QemuBuild> list() throws VmException {
        return in(folder);
    }

    private List<QemuBuild> in(Path folder) throws VmException {
        var builds = new ArrayList<QemuBuild>();
        if (Files.isDirectory(folder)) {
            try (Stream<Path> all = Files.list(folder)) {
                for (Path each : all.filter(QemuBuild::exists)
                        .sorted((a, b) -> Long.compare(
                                b.toFile().lastModified(), a.toFile().lastModified()))
                        .toList()) {
                    openInto(builds, each);
                }
            } catch (IOException e) {
                throw new VmException(Code.IO, folder + " could not be listed", e);
            }
        }
        return builds;
    }

    /// Every available QEMU: the unpacked ones, and the installed one if there is one.
    public List<Qemu> all() throws VmException {
        var all = new ArrayList<Qemu>();
        list().forEach(build -> all.add(build.qemu()));
        try {
            all.add(Qemu.find(data));
        } catch (VmException e) {
            if (e.code() != Code.QEMU_MISSING) {
                throw e;
            }
        }
        return all;
    }

    /// The QEMU of this digest, with unchanged file metadata; null if it is not here.
    public @Nullable Qemu withDigest(Hash digest) throws VmException {
        return all().stream()
                .filter(qemu -> qemu.digest().equals(digest))
                .findFirst()
                .orElse(null);
    }

    /// The same, or else one that came with an imported run: to execute such a run again, never to record.
    public @Nullable Qemu forReplay(Hash digest) throws VmException {
        Qemu own = withDigest(digest);
        return own != null
                ? own
                : in(new DataFolder(data).importedQemu()).stream()
                        .map(QemuBuild::qemu)
                        .filter(qemu -> qemu.digest().equals(digest))
                        .findFirst()
                        .orElse(null);
    }

    /// Hashes a QEMU again: whether it still has its digest. For an installed one that covers only the
    /// program.
    public boolean isUnchanged(Qemu qemu) throws VmException {
        try {
            Hash now = qemu.kind() == Qemu.Kind.UNPACKED
                    ? FolderFingerprint.hash(qemu.place())
                    : FileFingerprint.hash(qemu.place());
            return now.equals(qemu.digest());
        } catch (IOException e) {
            throw new VmException(Code.IO, "could not hash " + qemu.place(), e);
        }
    }

    /// The first QEMU here that passes the trial, or null. Those that have not been tried with this image's
    /// kernel yet are tried; nothing is fetched.
    ///
    /// @param trial tries each one that it does not know yet
    /// @param image whose kernel is booted
    public @Nullable Qemu admitted(QemuTrial trial, GuestImage image) throws VmException {
        for (Qemu qemu : all()) {
            if (trial.of(qemu, image).admitted()) {
                return qemu;
            }
        }
        return null;
    }

    /// The QEMU for exact recordings: the first that passes the trial. If none does, Debian's is fetched and
    /// tried.
    ///
    /// @param trial tries each one that it does not know yet
    /// @param image whose kernel is booted
    /// @param mirror to fetch from instead of the machine's apt sources, or null
    /// @throws VmException `QEMU_FAILED` when not even the fetched one is admitted; `MIRROR` and others from
    /// fetching
    public Qemu forExact(QemuTrial trial, GuestImage image, @Nullable String mirror) throws VmException {
        Qemu here = admitted(trial, image);
        if (here != null) {
            return here;
        }
        progress.say("no QEMU here can record and replay; unpacking Debian's into the data folder");
        Qemu fetched = fetch(mirror).qemu();
        var admission = trial.of(fetched, image);
        if (!admission.admitted() && !CarriedQemu.list(data).isEmpty()) {
            progress.say("the imported QEMU cannot be used here (" + admission.reason()
                    + "); using the one of the shipped lock");
            QemuParts parts = QemuParts.shipped();
            fetched = make(parts, fetch -> fetch.make(parts.lock(), mirror)).qemu();
            admission = trial.of(fetched, image);
        }
        if (!admission.admitted()) {
            throw new VmException(Code.QEMU_FAILED, fetched.version() + ": " + admission.reason());
        }
        return fetched;
    }

    /// Fetches and unpacks Debian's QEMU; a build of the same digest is replaced. Imported builds take
    /// precedence over the shipped lock: all of them that are not here yet are unpacked, and the first of the
    /// latest import is returned.
    ///
    /// @throws VmException `MIRROR`, `TOOL_MISSING`, `DISK_FULL`, `IO`
    public QemuBuild fetch(@Nullable String mirror) throws VmException {
        return fetch(QemuParts.shipped(), mirror);
    }

    QemuBuild fetch(QemuParts parts, @Nullable String mirror) throws VmException {
        List<CarriedQemu> carried = CarriedQemu.list(data);
        if (carried.isEmpty()) {
            return make(parts, fetch -> fetch.make(parts.lock(), mirror));
        }
        for (CarriedQemu each : carried.subList(1, carried.size())) {
            if (withDigest(Hash.ofHex(each.digest())) == null) {
                unpack(parts, each, mirror);
            }
        }
        return unpack(parts, carried.getFirst(), mirror);
    }

    private QemuBuild unpack(QemuParts parts, CarriedQemu carried, @Nullable String mirror) throws VmException {
        QemuBuild build = make(parts, fetch -> fetch.make(carried.lock(), mirror));
        String digest = build.record().files().sha256();
        if (!digest.equals(carried.digest())) {
            progress.say("this QEMU's digest differs from the imported one's: " + digest + " instead of "
                    + carried.digest());
        }
        return build;
    }

    /// Fetches and unpacks today's version, whatever the lock says.
    ///
    /// @throws VmException as [#fetch]
    public QemuBuild renew(@Nullable String mirror) throws VmException {
        return make(QemuParts.shipped(), fetch -> fetch.makeNewest(mirror));
    }

    @FunctionalInterface
    interface Making {
        String digest(QemuFetch fetch) throws VmException;
    }

    QemuBuild make(QemuParts parts, Making making) throws VmException {
        try (var lock = FolderLock.take(folder, progress)) {
            ScratchFolder.clear(folder, SCRATCH);
            try (var scratch = ScratchFolder.in(folder, SCRATCH)) {
                String digest = making.digest(
                        new QemuFetch(new PackageArchive(data), scratch.path(), aptConfiguration, parts, progress));
                Path place = folder.resolve(digest);
                if (Files.exists(place)) {
                    // Into the scratch folder, to be deleted with it.
                    AtomicFiles.rename(place, scratch.path().resolve("replaced"));
                }
                AtomicFiles.rename(scratch.path().resolve("build"), place);
                return QemuBuild.open(place);
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, "QEMU could not be put into " + folder, e);
        }
    }

    private void openInto(List<QemuBuild> builds, Path each) throws VmException {
        try {
            builds.add(QemuBuild.open(each));
        } catch (VmException e) {
            if (e.code() != Code.QEMU_MISSING) {
                throw e;
            }
            progress.say(e.getMessage());
        }
    }
}
