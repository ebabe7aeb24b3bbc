package blackbox.vm.image;

import blackbox.schemas.Progress;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.DebFile;
import blackbox.vm.apt.LockDifference;
import blackbox.vm.image.ImageLock.LockedPackage;
import blackbox.vm.image.ImageLock.PackageUse;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Fetches an image's packages into the archive and reports which they are: the locked ones, or as close to
/// them as the mirror allows.
final class ImageFetch {
    private static final Pattern KERNEL = Pattern.compile("(?m)^Depends:.*?\\b(linux-(?:image|headers)-[0-9][^\\s,]*)");
    private static final Pattern COMMON_HEADERS =
            Pattern.compile("(?m)^Depends:.*?\\b(linux-headers-[0-9][^\\s,]*-common)");

    private final ImageDefinition definition;
    private final LockFetch fetch;
    private final InstantSource clock;
    private final Progress progress;

    /// @param clock dates a new lock
    ImageFetch(ImageDefinition definition, LockFetch fetch, InstantSource clock, Progress progress) {
        this.definition = definition;
        this.fetch = fetch;
        this.clock = clock;
        this.progress = progress;
    }

    /// Fetches exactly the packages of `lock`.
    ///
    /// @throws VmException `MIRROR` naming each package that is not available
    void exactly(ImageLock lock) throws VmException {
        Map<DebFile, String> gone = fetch.take(lock.files());
        if (!gone.isEmpty()) {
            throw new VmException(
                    Code.MIRROR,
                    "locked packages are not available: "
                            + String.join(
                                    "; ",
                                    gone.entrySet().stream()
                                            .map(each -> each.getKey().identity() + " (" + each.getValue() + ")")
                                            .toList())
                            + "; renew the lock, or import them with `blackbox image import`");
        }
    }

    /// Fetches the packages of `lock`; for those that are gone, newer ones and their dependencies, and what the
    /// definition wants beyond them if the lock is another one's.
    ///
    /// @return `lock` itself if all of it was available and it is the definition's, otherwise a lock with
    ///     the same epoch: then the same packages give the same image, whatever the day
    ImageLock nearest(ImageLock lock) throws VmException {
        Map<DebFile, String> gone = fetch.take(lock.files());
        boolean fits = lock.isFor(definition);
        if (gone.isEmpty() && fits) {
            return lock;
        }
        if (!gone.isEmpty()) {
            progress.say("looking for newer packages to replace " + gone.size() + " that are gone");
        }
        if (!fits) {
            progress.say("resolving the packages that '" + definition.name() + "' has besides the locked ones");
        }
        var uses = new HashMap<DebFile, PackageUse>();
        lock.packages().forEach(each -> uses.put(each.file(), each.use()));
        boolean rootGone = !fits || gone.keySet().stream().anyMatch(each -> uses.get(each) == PackageUse.ROOT);
        boolean kernelGone = gone.keySet().stream().anyMatch(each -> uses.get(each) != PackageUse.ROOT);
        // A kernel only works with its own headers, so these packages are renewed together or not at all.
        var packages = new ArrayList<LockedPackage>(
                kernelGone
                        ? kernel()
                        : lock.packages().stream()
                                .filter(each -> each.use() != PackageUse.ROOT)
                                .toList());
        packages.addAll(rootGone ? root(lock, gone) : lock.packages(PackageUse.ROOT));
        ImageLock renewed = ImageLock.of(definition, lock.epoch(), packages);
        if (fits) {
            fetch.tell("the image", LockDifference.between(lock.files(), renewed.files()));
        }
        return renewed;
    }

    /// Fetches today's packages.
    ///
    /// @return `lock` itself if it lists exactly these
    ImageLock newest(@Nullable ImageLock lock) throws VmException {
        progress.say("resolving packages of " + definition.suite());
        var packages = new ArrayList<LockedPackage>();
        fetch.renew(wanted(), List.of(), Map.of()).forEach(each -> packages.add(locked(each, PackageUse.ROOT)));
        packages.addAll(kernel());
        long epoch = clock.instant().truncatedTo(ChronoUnit.DAYS).getEpochSecond();
        ImageLock newest = ImageLock.of(definition, epoch, packages);
        return lock != null && lock.isFor(definition) && lock.packages().equals(newest.packages()) ? lock : newest;
    }

    private List<LockedPackage> root(ImageLock lock, Map<DebFile, String> gone) throws VmException {
        List<DebFile> locked =
                lock.packages(PackageUse.ROOT).stream().map(LockedPackage::file).toList();
        return fetch.renew(wanted(), locked, gone).stream()
                .map(each -> locked(each, PackageUse.ROOT))
                .toList();
    }

    private List<String> wanted() {
        var wanted = new ArrayList<>(List.of("?essential"));
        wanted.addAll(definition.packages());
        return wanted;
    }

    /// The newest kernel and its headers.
    private List<LockedPackage> kernel() throws VmException {
        String kernel = dependency(definition.kernel(), KERNEL);
        String headers = dependency(definition.headers(), KERNEL);
        if (!kernel.replace("linux-image-", "").equals(headers.replace("linux-headers-", ""))) {
            throw new VmException(
                    Code.MIRROR, "the mirror has kernel " + kernel + " but " + headers + "; try again later");
        }
        var packages = new ArrayList<LockedPackage>();
        fetch.newest(List.of(kernel)).forEach(each -> packages.add(locked(each, PackageUse.KERNEL)));
        fetch.newest(List.of(headers, dependency(headers, COMMON_HEADERS)))
                .forEach(each -> packages.add(locked(each, PackageUse.HEADERS)));
        return packages;
    }

    private static LockedPackage locked(DebFile file, PackageUse use) {
        return new LockedPackage(file.name(), file.version(), file.architecture(), file.sha256(), file.bytes(), use);
    }

    private String dependency(String of, Pattern form) throws VmException {
        var found = form.matcher(fetch.apt().show(of));
        if (!found.find()) {
            throw new VmException(
                    Code.IMAGE_DEFINITION, "the package '" + of + "' does not have the expected dependency");
        }
        return found.group(1);
    }
}
