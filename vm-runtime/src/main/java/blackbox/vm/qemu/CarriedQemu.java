package blackbox.vm.qemu;

import blackbox.schemas.Hash;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.DebFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// What is needed here, besides the packages themselves, to unpack a QEMU of another data folder.
/// Imported ones are stored at `archive/locks/qemu.json`.
///
/// @param digest of the build as it was exported
/// @param version as it reports it
/// @param suite Debian's release that the packages come from
/// @param packages from which it is unpacked
public record CarriedQemu(String digest, String version, String suite, List<DebFile> packages) {
    private static final Pattern SUITE = Pattern.compile("[a-z][a-z0-9-]{0,40}");

    public CarriedQemu {
        Hash.ofHex(digest);
        packages = List.copyOf(packages);
        if (packages.isEmpty() || !SUITE.matcher(suite).matches()) {
            throw new IllegalArgumentException("carried QEMU: no packages, or no suite");
        }
    }

    /// All imported builds.
    ///
    /// @param format version of this form: 1
    /// @param builds those of the latest import first
    private record Index(int format, List<CarriedQemu> builds) {
        static final int FORMAT = 1;

        Index {
            builds = List.copyOf(builds);
            if (format != FORMAT) {
                throw new IllegalArgumentException("carried QEMUs: unknown format");
            }
        }
    }

    /// What another data folder needs to know about `build`.
    public static CarriedQemu of(QemuBuild build) {
        var record = build.record();
        return new CarriedQemu(record.files().sha256(), record.version(), record.suite(), record.packages());
    }

    QemuLock lock() {
        return QemuLock.of(suite, packages);
    }

    /// The builds that were imported into a data folder, the latest import first.
    public static List<CarriedQemu> list(Path data) throws VmException {
        Path file = file(data);
        return Files.exists(file)
                ? Json.read(file, Index.class, Code.IMAGE_DEFINITION).builds()
                : List.of();
    }

    /// Stores these in a data folder, before the existing ones.
    public static void keep(Path data, List<CarriedQemu> builds) throws VmException {
        var all = new ArrayList<>(builds);
        var digests = builds.stream().map(CarriedQemu::digest).toList();
        list(data).stream().filter(each -> !digests.contains(each.digest())).forEach(all::add);
        Path file = file(data);
        try {
            Files.createDirectories(file.getParent());
        } catch (IOException e) {
            throw new VmException(Code.IO, file.getParent() + " could not be made", e);
        }
        Json.write(file, new Index(Index.FORMAT, all));
    }

    private static Path file(Path data) {
        return new DataFolder(data).locks().resolve("qemu.json");
    }
}
