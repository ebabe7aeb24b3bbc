package blackbox.vm.qemu;

import blackbox.schemas.Progress;
import blackbox.vm.Command;
import blackbox.vm.FolderFingerprint;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.AptSources;
import blackbox.vm.apt.DebFile;
import blackbox.vm.apt.LockDifference;
import blackbox.vm.apt.PrivateApt;
import blackbox.vm.image.LockFetch;
import blackbox.vm.image.PackageArchive;
import blackbox.vm.qemu.QemuBuild.BuildRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Fetches Debian's QEMU and unpacks the parts that are needed to run it. The packages stay in the archive, so a
/// build can be repeated after the mirror has moved on.
final class QemuFetch {
    private static final String ARCHITECTURE = "amd64";
    /// A line of the loader's list: name and path, which may have blanks, or `not found`.
    private static final Pattern LIBRARY = Pattern.compile("(?m)^\\s*(\\S+) => (.+?)(?: \\(0x[0-9a-f]+\\))?$");

    private static final long SCRATCH_BYTES_MIN = 600L << 20;

    private final PackageArchive archive;
    private final Path scratch;
    private final Path aptConfiguration;
    private final QemuParts parts;
    private final Progress progress;

    /// @param aptConfiguration the machine's `/etc/apt`
    QemuFetch(PackageArchive archive, Path scratch, Path aptConfiguration, QemuParts parts, Progress progress) {
        this.archive = archive;
        this.scratch = scratch;
        this.aptConfiguration = aptConfiguration;
        this.parts = parts;
        this.progress = progress;
    }

    /// Makes `build/` in the scratch folder, a complete [QemuBuild], and returns its digest. For locked
    /// packages that the mirror no longer has, newer ones are taken.
    ///
    /// @param lock which packages
    /// @param mirror instead of the machine's apt sources, or null
    String make(QemuLock lock, @Nullable String mirror) throws VmException {
        checkRoom();
        try (var fetch = new LockFetch(archive, progress, () -> open(lock.suite(), mirror))) {
            return unpack(nearest(lock, fetch));
        }
    }

    /// The same, but from today's packages, whatever the lock says.
    String makeNewest(@Nullable String mirror) throws VmException {
        checkRoom();
        String suite = parts.lock().suite();
        try (var fetch = new LockFetch(archive, progress, () -> open(suite, mirror))) {
            progress.say("resolving Debian's QEMU of " + suite);
            return unpack(QemuLock.of(suite, fetch.renew(parts.packages(), List.of(), Map.of())));
        }
    }

    private QemuLock nearest(QemuLock lock, LockFetch fetch) throws VmException {
        Map<DebFile, String> gone = fetch.take(lock.packages());
        if (gone.isEmpty()) {
            return lock;
        }
        progress.say("looking for newer packages to replace " + gone.size() + " that are gone");
        var renewed = QemuLock.of(lock.suite(), fetch.renew(parts.packages(), lock.packages(), gone));
        fetch.tell("this QEMU", LockDifference.between(lock.packages(), renewed.packages()));
        return renewed;
    }

    private void checkRoom() throws VmException {
        try {
            if (Files.getFileStore(scratch).getUsableSpace() < SCRATCH_BYTES_MIN) {
                throw new VmException(
                        Code.DISK_FULL,
                        "unpacking QEMU needs 600 MiB free at " + scratch.getParent() + "; make room there");
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, scratch + " cannot be used", e);
        }
    }

    private PrivateApt open(String suite, @Nullable String mirror) throws VmException {
        for (String tool : List.of("apt-get", "apt-config", "dpkg-deb")) {
            if (Command.find(tool) == null) {
                throw new VmException(
                        Code.TOOL_MISSING,
                        "unpacking Debian's QEMU needs '" + tool
                                + "', which is not installed; install apt and dpkg, or install QEMU 10 or newer");
            }
        }
        return PrivateApt.open(
                scratch, AptSources.of(aptConfiguration, suite, AptSources.ownSuite(), mirror), ARCHITECTURE);
    }

    private String unpack(QemuLock lock) throws VmException {
        progress.say("unpacking QEMU from " + lock.packages().size() + " packages");
        Path all = scratch.resolve("all");
        for (DebFile each : lock.packages()) {
            Path file = scratch.resolve(each.name() + ".deb");
            archive.copyTo(each.sha256(), file);
            Command.of("dpkg-deb", "-x", file.toString(), all.toString()).run();
        }
        Path build = scratch.resolve("build");
        Path root = build.resolve(QemuBuild.ROOT);
        try {
            for (String wanted : parts.files()) {
                Path target = root.resolve(wanted);
                Files.createDirectories(target.getParent());
                Files.move(all.resolve(wanted), target);
            }
        } catch (IOException e) {
            throw new VmException(Code.QEMU_MISSING, "Debian's packages of QEMU are not laid out as expected", e);
        }
        checkLibraries(root);
        var seal = FolderFingerprint.of(root);
        String version = Qemu.version(Qemu.unpacked(root.toString()));
        Json.write(
                build.resolve(QemuBuild.RECORD),
                new BuildRecord(
                        BuildRecord.FORMAT,
                        version,
                        lock.suite(),
                        seal,
                        lock.packages(),
                        LockDifference.between(parts.lock().packages(), lock.packages())));
        return seal.sha256();
    }

    /// A library of the host would be a part of QEMU that the digest does not cover.
    private static void checkLibraries(Path root) throws VmException {
        List<String> words = Qemu.unpacked(root.toString());
        var list = new ArrayList<>(words.subList(0, words.indexOf("-L")));
        list.add(list.indexOf("--inhibit-cache"), "--list");
        var found = LIBRARY.matcher(Command.of(list.toArray(String[]::new)).run());
        while (found.find()) {
            if (!found.group(2).startsWith(root.toString())) {
                throw new VmException(
                        Code.QEMU_MISSING, "Debian's packages of QEMU lack the library " + found.group(1));
            }
        }
    }
}
