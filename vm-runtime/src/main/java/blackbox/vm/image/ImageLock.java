package blackbox.vm.image;

import blackbox.schemas.Hash;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.DebFile;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Exactly which packages an image is made of. Holds no download address: a package is identified by its
/// digest.
///
/// @param format version of this form: 1
/// @param inputsSha256 digest of what it was resolved for: suite, architecture, packages, kernel and headers of the
///     definition
/// @param epoch seconds since 1970 that stand for every time in the image (`SOURCE_DATE_EPOCH`)
/// @param packages sorted by name
public record ImageLock(int format, String inputsSha256, long epoch, List<LockedPackage> packages) {
    private static final int FORMAT = 1;

    public ImageLock {
        if (format != FORMAT || epoch <= 0 || packages.isEmpty()) {
            throw new IllegalArgumentException("image lock: unknown format, no epoch or no packages");
        }
        Hash.ofHex(inputsSha256);
        packages = packages.stream()
                .sorted(Comparator.comparing(LockedPackage::name))
                .toList();
    }

    /// One package.
    ///
    /// @param sha256 of the `.deb`
    /// @param use where it goes
    public record LockedPackage(
            String name, String version, String architecture, String sha256, long bytes, PackageUse use) {
        public LockedPackage {
            Objects.requireNonNull(use);
            DebFile.check(name, version, architecture, sha256, bytes);
        }

        /// The package, without its use.
        DebFile file() {
            return new DebFile(name, version, architecture, sha256, bytes);
        }
    }

    /// Where a package goes.
    public enum PackageUse {
        /// Installed into the root.
        ROOT,
        /// Unpacked for its kernel and modules; never installed.
        KERNEL,
        /// Unpacked for the tracer's compiler; only its include folders go into the root.
        HEADERS
    }

    /// The lock that ships with Blackbox for this definition, or null when there is none or the definition has
    /// changed.
    static @Nullable ImageLock shipped(ImageDefinition definition) throws VmException {
        String text = ImageDefinition.resource(definition.name() + ".lock");
        if (text == null) {
            return null;
        }
        try {
            ImageLock lock = Json.parse(text, ImageLock.class);
            return lock.isFor(definition) ? lock : null;
        } catch (JsonProcessingException e) {
            throw new VmException(
                    Code.IMAGE_DEFINITION, "the lock of '" + definition.name() + "' could not be read", e);
        }
    }

    /// A lock of today's packages.
    static ImageLock of(ImageDefinition definition, long epoch, List<LockedPackage> packages) {
        return new ImageLock(FORMAT, digest(definition), epoch, packages);
    }

    /// Whether it was resolved for what `definition` requests.
    public boolean isFor(ImageDefinition definition) {
        return inputsSha256.equals(digest(definition));
    }

    /// Reads a lock's file.
    ///
    /// @throws VmException `IMAGE_DEFINITION`
    public static ImageLock read(Path file) throws VmException {
        return Json.read(file, ImageLock.class, Code.IMAGE_DEFINITION);
    }

    /// The lock as stored in a file: a line for each package, so that people see which one has changed.
    public String text() {
        return Json.lines("packages", Json.tree(this));
    }

    /// All packages, whatever their use.
    public List<DebFile> files() {
        return packages.stream().map(LockedPackage::file).toList();
    }

    /// The packages of one use.
    List<LockedPackage> packages(PackageUse use) {
        return packages.stream().filter(each -> each.use() == use).toList();
    }

    private static String digest(ImageDefinition definition) {
        String inputs = String.join(
                "\n",
                definition.suite(),
                definition.architecture(),
                String.join(" ", definition.packages()),
                definition.kernel(),
                definition.headers());
        return Hash.sha256(inputs.getBytes(StandardCharsets.UTF_8)).toString();
    }
}
