package blackbox.vm.image;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.AptSources;
import blackbox.vm.apt.PrivateApt;
import blackbox.vm.image.ImageLock.LockedPackage;
import blackbox.vm.image.ImageLock.PackageUse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Fetches an image's packages from the machine's mirror.
final class AptMirror {
    private static final Pattern KERNEL = Pattern.compile("(?m)^Depends:.*?\\b(linux-(?:image|headers)-[0-9][^ ,]*)");
    private static final Pattern COMMON_HEADERS =
            Pattern.compile("(?m)^Depends:.*?\\b(linux-headers-[0-9][^ ,]*-common)");

    private final PrivateApt apt;

    private AptMirror(PrivateApt apt) {
        this.apt = apt;
    }

    /// Sets up apt's private state and fetches the lists.
    static AptMirror open(Path scratch, ImageDefinition definition, @Nullable String mirror) throws VmException {
        String sources = AptSources.of(AptSources.CONFIGURATION, definition.suite(), mirror);
        return new AptMirror(PrivateApt.open(scratch, sources, definition.architecture()));
    }

    /// Resolves the definition to today's packages and fetches them; returns each file with its use.
    List<Fetched> resolve(ImageDefinition definition) throws VmException {
        var install = new ArrayList<>(List.of("?essential"));
        install.addAll(definition.packages());
        var fetched = new ArrayList<>(used(apt.resolve(install), PackageUse.ROOT));
        String kernel = dependency(definition.kernel(), KERNEL);
        String headers = dependency(definition.headers(), KERNEL);
        if (!kernel.replace("linux-image-", "").equals(headers.replace("linux-headers-", ""))) {
            throw new VmException(
                    Code.MIRROR, "the mirror has kernel " + kernel + " but " + headers + "; try again later");
        }
        fetched.addAll(used(apt.download(List.of(kernel)), PackageUse.KERNEL));
        fetched.addAll(used(apt.download(List.of(headers, dependency(headers, COMMON_HEADERS))), PackageUse.HEADERS));
        return fetched;
    }

    /// Fetches exactly these versions.
    ///
    /// @throws VmException `MIRROR` when one of them is not there any more
    List<Fetched> fetch(List<LockedPackage> packages) throws VmException {
        return used(
                apt.download(packages.stream().map(LockedPackage::specification).toList()), PackageUse.ROOT);
    }

    /// A fetched file. When it was fetched by lock, its use is the lock's to say.
    record Fetched(Path file, PackageUse use) {}

    private static List<Fetched> used(List<Path> files, PackageUse use) {
        return files.stream().map(file -> new Fetched(file, use)).toList();
    }

    private String dependency(String of, Pattern form) throws VmException {
        var found = form.matcher(apt.show(of));
        if (!found.find()) {
            throw new VmException(
                    Code.IMAGE_DEFINITION, "the package '" + of + "' does not depend on what was expected");
        }
        return found.group(1);
    }
}
