package blackbox.vm.image;

import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.vm.Command;
import blackbox.vm.FileFingerprint;
import blackbox.vm.FolderLock;
import blackbox.vm.Json;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.AptSources;
import blackbox.vm.apt.LockDifference;
import blackbox.vm.apt.PrivateApt;
import blackbox.vm.image.GuestImage.ImageRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Builds guest images, and rebuilds them for comparison. Works for any user who can have a [BuildNamespace].
public final class GuestImageBuilder {
    private static final long SCRATCH_BYTES_MIN = 3L << 30;

    private static final String SCRATCH = ".build-";

    private final ImageStore store;
    private final InstantSource clock;
    private final Progress progress;

    /// @param clock dates new locks and builds
    public GuestImageBuilder(ImageStore store, InstantSource clock, Progress progress) {
        this.store = store;
        this.clock = clock;
        this.progress = progress;
    }

    /// What to do about the lock.
    public enum LockPolicy {
        /// Use the imported lock or else the kept one, which ships with a definition or is beside its file;
        /// take newer packages for what the mirror no longer has, and report it.
        PREFER,
        /// Use the kept lock or fail.
        REQUIRE,
        /// Resolve today's packages.
        RENEW
    }

    /// Builds the image of a definition that ships and puts it in the store, replacing an older one.
    ///
    /// @param mirror instead of the machine's apt sources, or null
    public GuestImage build(ImageDefinition definition, GuestFiles files, LockPolicy policy, @Nullable String mirror)
            throws VmException {
        return build(ImageSource.shipped(definition), files, policy, mirror);
    }

    /// Builds an image and puts it in the store, replacing an older one.
    ///
    /// @param mirror instead of the machine's apt sources, or null
    public GuestImage build(ImageSource source, GuestFiles files, LockPolicy policy, @Nullable String mirror)
            throws VmException {
        checkMachine();
        try (var lock = FolderLock.take(store.folder(), progress);
                var scratch = scratch(lock)) {
            ImageLock kept = kept(source);
            ImageDefinition definition = source.whole(store.archive(), scratch.path(), progress);
            ImageLock packages = packages(source, definition, kept, policy, mirror, scratch);
            ImageRecord record = assemble(definition, packages, files, scratch.path(), Standing.of(kept, packages));
            Path built = scratch.path().resolve("image");
            Json.write(built.resolve(GuestImage.RECORD), record);
            compare(store.withGuestFiles(ImageStore.read(built), files, lock).record());
            GuestImage image = store.adopt(built, definition.name(), progress);
            source.built(packages, progress);
            return image;
        }
    }

    /// Rebuilds `image` from the archive, without network, and compares all bytes.
    ///
    /// @param derivation that made one of its guest files, to make that again; null if none did
    public ImageVerification verify(GuestImage image, GuestFiles.@Nullable Derivation derivation) throws VmException {
        checkMachine();
        ImageRecord recorded = image.record();
        var files = new TreeMap<String, byte[]>();
        for (var each : recorded.guestFiles().entrySet()) {
            files.put(each.getKey(), store.archive().octets(each.getValue()));
        }
        if (derivation != null) {
            deriveAgain(image, derivation.afresh(), files);
        }
        try (var lock = FolderLock.take(store.folder(), progress);
                var scratch = scratch(lock)) {
            ImageRecord rebuilt = assemble(
                    recorded.definition(),
                    recorded.lock(),
                    GuestFiles.recorded(files),
                    scratch.path(),
                    new Standing(recorded.lockRenewed(), recorded.lockDifferences()));
            var differing = new ArrayList<String>();
            for (String file : GuestImage.FILES) {
                FileFingerprint fresh = rebuilt.files().get(file);
                if (fresh == null || !fresh.holds(image.file(file))) {
                    differing.add(file);
                }
            }
            var tools = new TreeMap<String, String>();
            rebuilt.tools().forEach((tool, version) -> {
                String before = recorded.tools().getOrDefault(tool, "unknown");
                if (!before.equals(version)) {
                    tools.put(tool, before + " → " + version);
                }
            });
            return new ImageVerification(
                    image.name(),
                    image.digest(),
                    Hash.ofHex(rebuilt.digest()),
                    List.copyOf(differing),
                    Map.copyOf(tools));
        }
    }

    /// Where it cannot be made here, the recorded one stays, and the derivation says so.
    private static void deriveAgain(GuestImage image, GuestFiles.Derivation derivation, SortedMap<String, byte[]> files)
            throws VmException {
        byte[] recorded = files.remove(derivation.path());
        if (recorded != null) {
            byte[] again = derivation.derive(image, GuestFiles.recorded(files));
            files.put(derivation.path(), again == null ? recorded : again);
        }
    }

    /// A scratch folder beside the images; any that crashed builds left behind are deleted first.
    private ScratchFolder scratch(FolderLock lock) throws VmException {
        Objects.requireNonNull(lock);
        try (Stream<Path> left = Files.list(store.folder())) {
            for (Path each : left.filter(
                            folder -> folder.getFileName().toString().startsWith(SCRATCH))
                    .toList()) {
                BuildNamespace.delete(each);
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, "what crashed builds left behind could not be deleted", e);
        }
        return ScratchFolder.in(store.folder(), SCRATCH);
    }

    /// What `verify` found.
    ///
    /// @param recorded the digest in the image's record
    /// @param rebuilt the digest of what was built from the archive
    /// @param differing which of the image's present files differ from the rebuilt ones
    /// @param tools whose versions have changed since the image was built: the likely cause of a difference
    public record ImageVerification(
            String image, Hash recorded, Hash rebuilt, List<String> differing, Map<String, String> tools) {
        /// Whether every byte is the same.
        public boolean identical() {
            return differing.isEmpty() && recorded.equals(rebuilt);
        }
    }

    private ImageRecord assemble(
            ImageDefinition definition, ImageLock lock, GuestFiles files, Path scratch, Standing standing)
            throws VmException {
        Instant started = clock.instant();
        Path target = scratch.resolve("image");
        try {
            Files.createDirectory(target);
        } catch (IOException e) {
            throw new VmException(Code.IO, target + " could not be made", e);
        }
        new RootBuilder(definition, lock, store.archive(), scratch).build(target, progress);
        SortedMap<String, FileFingerprint> fingerprints = new TreeMap<>();
        fingerprints.put(GuestImage.INITRD, ImageStore.writeInitrd(target, files));
        for (String file : List.of(GuestImage.KERNEL, GuestImage.ROOT, GuestImage.INITRD_BASE)) {
            fingerprints.put(file, FileFingerprint.of(target.resolve(file)));
        }
        return new ImageRecord(
                ImageRecord.FORMAT,
                GuestImage.digest(fingerprints, definition.kernelArguments()).toString(),
                started.truncatedTo(ChronoUnit.SECONDS).toString(),
                definition,
                lock,
                fingerprints,
                store.archived(files),
                standing.renewed(),
                standing.differences(),
                tools());
    }

    private ImageLock packages(
            ImageSource source,
            ImageDefinition definition,
            @Nullable ImageLock kept,
            LockPolicy policy,
            @Nullable String mirror,
            ScratchFolder scratch)
            throws VmException {
        try (var fetch = new LockFetch(store.archive(), progress, () -> open(definition, mirror, scratch))) {
            var packages = new ImageFetch(definition, fetch, clock, progress);
            return switch (policy) {
                case RENEW -> packages.newest(kept);
                case PREFER -> {
                    ImageLock preferred = preferred(source);
                    yield preferred == null ? packages.newest(null) : packages.nearest(preferred);
                }
                case REQUIRE -> {
                    if (kept == null || !kept.isFor(definition)) {
                        throw new VmException(
                                Code.IMAGE_DEFINITION,
                                "no lock of '" + definition.name() + "' fits its definition; renew it");
                    }
                    packages.exactly(kept);
                    yield kept;
                }
            };
        }
    }

    /// The lock that is kept with the definition, or else with what that is based on.
    private static @Nullable ImageLock kept(ImageSource source) {
        for (ImageSource each = source; each != null; each = each.base()) {
            if (each.lock() != null) {
                return each.lock();
            }
        }
        return null;
    }

    /// The imported lock if there is one, because somebody brought it here to build from; otherwise the one
    /// that is kept with the definition. Where there is neither, those of what it is based on.
    private @Nullable ImageLock preferred(ImageSource source) throws VmException {
        for (ImageSource each = source; each != null; each = each.base()) {
            CarriedImage carried = store.carried(each.plain().name());
            if (carried != null && carried.lock().isFor(each.plain())) {
                progress.say("building from the imported packages; to use those of the kept lock, pass --lock REQUIRE");
                return carried.lock();
            }
            if (carried != null) {
                progress.say("the imported packages are of another definition of '"
                        + each.plain().name() + "' and are not used");
            }
            if (each.lock() != null) {
                return each.lock();
            }
        }
        return null;
    }

    /// Says why a build from imported packages differs from the exported image.
    private void compare(ImageRecord built) throws VmException {
        CarriedImage carried = store.carried(built.definition().name());
        if (carried == null || !carried.lock().equals(built.lock())) {
            return;
        }
        progress.say(
                carried.digest().equals(built.digest())
                        ? "it is the exported image, octet for octet"
                        : "it is not the exported image, " + carried.digest() + "; what differs: "
                                + carried.differences(built));
    }

    private static PrivateApt open(ImageDefinition definition, @Nullable String mirror, ScratchFolder scratch)
            throws VmException {
        String sources = AptSources.of(AptSources.CONFIGURATION, definition.suite(), AptSources.ownSuite(), mirror);
        return PrivateApt.open(scratch.path(), sources, definition.architecture());
    }

    /// How a build's packages compare to the kept lock.
    ///
    /// @param renewed whether they differ, or nothing was locked
    private record Standing(boolean renewed, List<LockDifference> differences) {
        static Standing of(@Nullable ImageLock kept, ImageLock packages) {
            return new Standing(
                    !packages.equals(kept),
                    kept == null ? List.of() : LockDifference.between(kept.files(), packages.files()));
        }
    }

    private static Map<String, String> tools() throws VmException {
        var versions = new TreeMap<String, String>();
        Command.of("dpkg-query", "-W", "-f=${Package} ${Version}\\n", "mmdebstrap", "erofs-utils", "dpkg")
                .run()
                .lines()
                .map(line -> line.split(" ", 2))
                .forEach(words -> versions.put(words[0], words[1]));
        return versions;
    }

    private void checkMachine() throws VmException {
        for (String tool : List.of("mmdebstrap", "mkfs.erofs", "apt-get", "dpkg-deb", "unshare")) {
            if (Command.find(tool) == null) {
                throw new VmException(
                        Code.TOOL_MISSING,
                        "building an image needs '" + tool + "'; apt-get install mmdebstrap erofs-utils util-linux");
            }
        }
        try {
            Files.createDirectories(store.folder());
            if (Files.getFileStore(store.folder()).getUsableSpace() < SCRATCH_BYTES_MIN) {
                throw new VmException(
                        Code.DISK_FULL,
                        "building an image needs 3 GiB free at " + store.folder() + "; make room there");
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, store.folder() + " cannot be used", e);
        }
        BuildNamespace.check(store.folder());
    }
}
