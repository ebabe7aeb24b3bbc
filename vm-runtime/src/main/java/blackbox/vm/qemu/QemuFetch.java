package blackbox.vm.qemu;

import blackbox.vm.Command;
import blackbox.vm.FolderSeal;
import blackbox.vm.Json;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.AptSources;
import blackbox.vm.apt.DebFile;
import blackbox.vm.apt.PrivateApt;
import blackbox.vm.image.PackageArchive;
import blackbox.vm.image.Progress;
import blackbox.vm.qemu.QemuBuild.BuildRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Fetches Debian's QEMU and unpacks what of it runs. The packages stay in the archive, so a build can be
/// made again when the mirror has moved on.
final class QemuFetch {
    private static final String ARCHITECTURE = "amd64";
    private static final List<String> PACKAGES = List.of("qemu-system-x86", "qemu-utils", "seabios");
    /// What runs: programs, libraries, firmware. Manuals, menus and services stay out.
    private static final List<String> WANTED = List.of(
            "usr/bin/qemu-system-x86_64",
            "usr/bin/qemu-img",
            "usr/lib/x86_64-linux-gnu",
            "usr/share/qemu",
            "usr/share/seabios");

    private final PackageArchive archive;
    private final Path scratch;
    private final Progress progress;

    QemuFetch(PackageArchive archive, Path scratch, Progress progress) {
        this.archive = archive;
        this.scratch = scratch;
        this.progress = progress;
    }

    /// Makes `build/` in the scratch folder, a whole [QemuBuild], and returns its digest.
    ///
    /// @param mirror instead of the machine's apt sources, or null
    String make(@Nullable String mirror) throws VmException {
        QemuLock lock = QemuLock.shipped();
        return unpack(fetchLocked(lock, mirror) ? lock : renew(lock.suite(), mirror));
    }

    private boolean fetchLocked(QemuLock lock, @Nullable String mirror) throws VmException {
        List<DebFile> missing = missing(lock);
        if (missing.isEmpty()) {
            return true;
        }
        progress.say("fetching " + missing.size() + " packages of Debian's QEMU, "
                + (missing.stream().mapToLong(DebFile::bytes).sum() >> 20) + " MiB");
        try {
            var apt = open(lock.suite(), mirror);
            for (Path file :
                    apt.download(missing.stream().map(DebFile::specification).toList())) {
                archive.take(file);
            }
        } catch (VmException e) {
            if (e.code() != Code.MIRROR) {
                throw e;
            }
            progress.say("the locked packages cannot be had: " + e.getMessage());
        }
        return missing(lock).isEmpty();
    }

    private List<DebFile> missing(QemuLock lock) {
        return lock.packages().stream()
                .filter(each -> !archive.has(each.sha256()))
                .toList();
    }

    private QemuLock renew(String suite, @Nullable String mirror) throws VmException {
        progress.say("fetching today's QEMU of Debian's " + suite + ": its digest will be another one");
        ScratchFolder.delete(scratch.resolve("apt"));
        var packages = new ArrayList<DebFile>();
        for (Path file : open(suite, mirror).resolve(PACKAGES)) {
            packages.add(DebFile.of(file));
            archive.take(file);
        }
        return QemuLock.of(suite, packages);
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
                scratch, AptSources.ofAny(AptSources.CONFIGURATION, suite, ownSuite(), mirror), ARCHITECTURE);
    }

    private String unpack(QemuLock lock) throws VmException {
        progress.say("unpacking QEMU out of " + lock.packages().size() + " packages");
        Path all = scratch.resolve("all");
        for (DebFile each : lock.packages()) {
            Path file = scratch.resolve(each.name() + ".deb");
            archive.copyTo(each.sha256(), file);
            Command.of("dpkg-deb", "-x", file.toString(), all.toString()).run();
        }
        Path build = scratch.resolve("build");
        Path root = build.resolve(QemuBuild.ROOT);
        try {
            for (String wanted : WANTED) {
                Path target = root.resolve(wanted);
                Files.createDirectories(target.getParent());
                Files.move(all.resolve(wanted), target);
            }
        } catch (IOException e) {
            throw new VmException(Code.QEMU_MISSING, "Debian's packages of QEMU are not laid out as expected", e);
        }
        checkLibraries(root);
        var seal = FolderSeal.of(root);
        String version = Qemu.version(Qemu.unpacked(root.toString()));
        Json.write(
                build.resolve(QemuBuild.RECORD),
                new BuildRecord(BuildRecord.FORMAT, version, lock.suite(), seal, lock.packages()));
        return seal.sha256();
    }

    /// A library that came from the host would be a part of QEMU that the digest does not cover.
    private static void checkLibraries(Path root) throws VmException {
        List<String> words = Qemu.unpacked(root.toString());
        var list = new ArrayList<>(words.subList(0, words.indexOf("-L")));
        list.add(list.indexOf("--inhibit-cache"), "--list");
        for (String line : Command.of(list.toArray(String[]::new)).run().lines().toList()) {
            String[] found = line.strip().split("\\s+");
            if (found.length > 2 && found[1].equals("=>") && !found[2].startsWith(root.toString())) {
                throw new VmException(Code.QEMU_MISSING, "Debian's packages of QEMU lack the library " + found[0]);
            }
        }
    }

    private static String ownSuite() throws VmException {
        Path release = Path.of("/etc/os-release");
        try {
            List<String> lines = Files.exists(release) ? Files.readAllLines(release) : List.of();
            return !lines.contains("ID=debian")
                    ? ""
                    : lines.stream()
                            .filter(line -> line.startsWith("VERSION_CODENAME="))
                            .map(line -> line.substring("VERSION_CODENAME=".length()))
                            .findFirst()
                            .orElse("");
        } catch (IOException e) {
            throw new VmException(Code.IO, release + " could not be read", e);
        }
    }
}
