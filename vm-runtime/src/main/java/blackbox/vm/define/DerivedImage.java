package blackbox.vm.define;

import blackbox.files.AtomicFiles;
import blackbox.schemas.Progress;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.define.DerivedDefinition.FilePart;
import blackbox.vm.define.DerivedDefinition.NpmPart;
import blackbox.vm.image.ImageAdditions;
import blackbox.vm.image.ImageAdditions.AddedFile;
import blackbox.vm.image.ImageAdditions.AddedObject;
import blackbox.vm.image.ImageAdditions.AddedPackage;
import blackbox.vm.image.ImageDefinition;
import blackbox.vm.image.ImageLock;
import blackbox.vm.image.ImageSource;
import blackbox.vm.image.PackageArchive;
import blackbox.vm.npm.NpmFetch;
import blackbox.vm.npm.NpmPackage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// An image that is based on another definition: that one's Debian packages and more, its additions and more.
final class DerivedImage implements ImageSource {
    private static final String LOCK = ".lock";

    private final DerivedDefinition definition;
    private final ImageSource base;
    private final @Nullable Path file;
    private final @Nullable String registry;
    private final @Nullable ImageLock lock;

    /// @param file the definition's, absolute, or null when it ships; the lock of its Debian packages is
    ///     kept beside it
    /// @param registry of npm, instead of the configured one, or null
    DerivedImage(DerivedDefinition definition, ImageSource base, @Nullable Path file, @Nullable String registry)
            throws VmException {
        this.definition = definition;
        this.base = base;
        this.file = file;
        this.registry = registry;
        Path kept = lockFile();
        this.lock = kept != null && Files.exists(kept) ? ImageLock.read(kept) : null;
    }

    @Override
    public ImageDefinition plain() {
        return base.plain().extended(definition.name(), definition.packages());
    }

    @Override
    public @Nullable ImageLock lock() {
        return lock;
    }

    @Override
    public ImageSource base() {
        return base;
    }

    @Override
    public ImageDefinition whole(PackageArchive archive, Path scratch, Progress progress) throws VmException {
        ImageAdditions below = base.whole(archive, scratch, progress).additions();
        var files = new TreeMap<String, AddedFile>();
        var environment = new TreeMap<String, String>();
        var sources = new TreeMap<String, AddedObject>();
        List<AddedPackage> npm = List.of();
        if (below != null) {
            below.files().forEach(each -> files.put(each.path(), each));
            environment.putAll(below.environment());
            sources.putAll(below.sources());
            npm = below.npm();
        }
        environment.putAll(definition.environment());
        sources.put(definition.label(), archived(definition.text().getBytes(StandardCharsets.UTF_8), archive));
        for (FilePart each : definition.files()) {
            files.put(each.path(), new AddedFile(each.path(), each.mode(), archived(each, archive, scratch)));
        }
        if (definition.npm() != null) {
            if (!npm.isEmpty()) {
                throw new VmException(
                        Code.IMAGE_DEFINITION,
                        definition.label() + ": '" + definition.from() + "' has npm packages of its own, and two locks"
                                + " cannot be joined; 'blackbox image init --agent " + definition.from()
                                + "' writes its definition and lock, to add to them with npm");
            }
            npm = npm(definition.npm(), archive, scratch, progress);
            sources.put(definition.npm().label(), archived(definition.npm().text(), archive));
        }
        return plain().with(
                        new ImageAdditions(definition.from(), npm, List.copyOf(files.values()), environment, sources));
    }

    /// Keeps the lock beside the definition, where something was resolved that no other lock has.
    @Override
    public void built(ImageLock built, Progress progress) throws VmException {
        Path kept = lockFile();
        if (kept == null || built.equals(inForce())) {
            return;
        }
        try {
            AtomicFiles.onDisk().replace(kept, built.text().getBytes(StandardCharsets.UTF_8));
            progress.say("which Debian packages these are is now in " + kept + "; keep it with the definition");
        } catch (IOException e) {
            progress.say(kept + " could not be written (" + e.getMessage()
                    + "), so the next build may take newer Debian packages");
        }
    }

    /// The lock beside the definition, or else that of what it is based on.
    private @Nullable ImageLock inForce() {
        ImageSource from = this;
        while (from.lock() == null && from.base() != null) {
            from = from.base();
        }
        return from.lock();
    }

    private @Nullable Path lockFile() {
        return file == null
                ? null
                : file.resolveSibling(String.valueOf(file.getFileName()).replaceFirst("\\.json$", "") + LOCK);
    }

    private static AddedObject archived(byte[] octets, PackageArchive archive) throws VmException {
        return new AddedObject(archive.take(octets), octets.length);
    }

    /// A copy is archived, so that the file may change while it is read.
    private static AddedObject archived(FilePart part, PackageArchive archive, Path scratch) throws VmException {
        if (part.text() != null) {
            return archived(part.text().getBytes(StandardCharsets.UTF_8), archive);
        }
        Path copy = scratch.resolve("file");
        try {
            Files.copy(Objects.requireNonNull(part.source()), copy, StandardCopyOption.REPLACE_EXISTING);
            long bytes = Files.size(copy);
            return new AddedObject(archive.take(copy), bytes);
        } catch (IOException e) {
            throw new VmException(Code.IO, part.source() + " could not be copied", e);
        }
    }

    /// The packages, with those that the archive lacks fetched into it.
    private List<AddedPackage> npm(NpmPart part, PackageArchive archive, Path scratch, Progress progress)
            throws VmException {
        var missing = new ArrayList<NpmPackage>();
        for (NpmPackage each : part.lock().packages()) {
            if (archive.find(each.sha512()) == null) {
                missing.add(each);
            }
        }
        Path folder = file == null ? scratch : file.resolveSibling("");
        try (var downloads = ScratchFolder.in(scratch, "npm-")) {
            new NpmFetch(downloads.path(), folder, registry, progress)
                    .fetch(missing, (one, fetched) -> archive.take(fetched, one.sha512()));
        }
        var packages = new ArrayList<AddedPackage>();
        for (NpmPackage each : part.lock().packages()) {
            String sha256 = archive.find(each.sha512());
            if (sha256 == null) {
                throw new VmException(Code.IMAGE_CORRUPT, "the archive lost " + each.spec() + "; build again");
            }
            packages.add(new AddedPackage(each, new AddedObject(sha256, archive.bytes(sha256))));
        }
        return packages;
    }
}
