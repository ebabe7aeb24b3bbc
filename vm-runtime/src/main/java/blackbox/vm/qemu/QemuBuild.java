package blackbox.vm.qemu;

import blackbox.schemas.Hash;
import blackbox.vm.FolderFingerprint;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.DebFile;
import blackbox.vm.apt.LockDifference;
import blackbox.vm.qemu.Qemu.Kind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Debian's QEMU, unpacked: `qemu/DIGEST/root`, and its record, `qemu/DIGEST/build.json`.
///
/// @param folder `qemu/DIGEST`
/// @param record the content of `build.json`
public record QemuBuild(Path folder, BuildRecord record) {
    /// The folder of its files.
    public static final String ROOT = "root";
    /// Its record.
    public static final String RECORD = "build.json";

    /// `build.json`.
    ///
    /// @param format version of this form: 1
    /// @param version as it reports it
    /// @param suite Debian's release that the packages come from
    /// @param files everything below `root`
    /// @param packages from which it was unpacked, by name; the archive keeps them
    /// @param lockDifferences those that differ from the shipped lock; missing in older records
    public record BuildRecord(
            int format,
            String version,
            String suite,
            FolderFingerprint files,
            List<DebFile> packages,
            @Nullable List<LockDifference> lockDifferences) {
        static final int FORMAT = 1;

        public BuildRecord {
            packages = List.copyOf(packages);
            lockDifferences = lockDifferences == null ? List.of() : List.copyOf(lockDifferences);
            if (format != FORMAT || packages.isEmpty()) {
                throw new IllegalArgumentException("record of a QEMU build: unknown format, or no packages");
            }
        }
    }

    /// Reads the build in `folder`.
    ///
    /// @throws VmException `QEMU_MISSING` when its files are not the ones that were unpacked
    public static QemuBuild open(Path folder) throws VmException {
        BuildRecord stored = Json.read(folder.resolve(RECORD), BuildRecord.class, Code.QEMU_MISSING);
        Path root = folder.resolve(ROOT);
        if (!stored.files().seemsUnchanged(root)) {
            var now = FolderFingerprint.of(root);
            if (!now.sha256().equals(stored.files().sha256())) {
                throw new VmException(
                        Code.QEMU_MISSING,
                        root + " has changed since it was unpacked; run 'blackbox doctor --fix' to unpack it again");
            }
            stored = new BuildRecord(
                    stored.format(),
                    stored.version(),
                    stored.suite(),
                    now,
                    stored.packages(),
                    stored.lockDifferences()); // it was copied
            Json.write(folder.resolve(RECORD), stored);
        }
        return new QemuBuild(folder, stored);
    }

    static boolean exists(Path folder) {
        return Files.exists(folder.resolve(RECORD));
    }

    /// The build as a QEMU that can be started.
    public Qemu qemu() {
        return new Qemu(
                folder.resolve(ROOT),
                Kind.UNPACKED,
                record.version(),
                Hash.ofHex(record.files().sha256()));
    }

    /// Hashes every file again.
    public boolean verify() throws VmException {
        return record.files().holds(folder.resolve(ROOT));
    }
}
