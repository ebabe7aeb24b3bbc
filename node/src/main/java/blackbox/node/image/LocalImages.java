package blackbox.node.image;

import blackbox.evidence.sign.CryptoProvider;
import blackbox.node.machine.Hypervisor;
import blackbox.recorder.guest.TracerFiles;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.define.ImageDefinitions;
import blackbox.vm.image.CarriedImage;
import blackbox.vm.image.GuestFiles;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.GuestImageBuilder;
import blackbox.vm.image.GuestImageBuilder.ImageVerification;
import blackbox.vm.image.GuestImageBuilder.LockPolicy;
import blackbox.vm.image.ImageSource;
import blackbox.vm.image.ImageStore;
import blackbox.vm.machine.TierChoice;
import blackbox.vm.machine.TierOption;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The guest images of a data folder, with the guest files that this build of Blackbox ships.
///
/// @param progress is told about steps that take time
public record LocalImages(DataFolder data, Progress progress) {

    /// The image that a recording uses unless another one is named.
    public static final String DEFAULT = "default";

    /// All of them, by name.
    public List<GuestImage> list() throws VmException {
        return store().list();
    }

    /// The image of this name, ready to record on: guest files of another build in it are replaced.
    ///
    /// @throws VmException `IMAGE_UNKNOWN`, or `IMAGE_CORRUPT` when its files are not those that were built
    public GuestImage open(String name) throws VmException {
        return store().open(name, files(compiler()), progress);
    }

    /// Builds an image, replacing any older one.
    ///
    /// @param what the name of a definition that Blackbox ships, of one that was imported or built here
    ///     before, or a file with a definition: what ends in `.json` or has a slash
    /// @param from of a file's definition, what to base it on instead; null for what it says
    /// @throws VmException `IMAGE_UNKNOWN`, `IMAGE_DEFINITION`, and the failures of building
    public GuestImage build(String what, @Nullable String from, LockPolicy lock, Mirrors mirrors) throws VmException {
        return builder().build(source(what, from, mirrors.npm()), files(compiler()), lock, mirrors.apt());
    }

    /// Where packages come from.
    ///
    /// @param apt instead of the machine's apt sources, or null
    /// @param npm a registry instead of the one of npm's configuration, or null
    public record Mirrors(@Nullable String apt, @Nullable String npm) {
        /// What the machine is configured to use.
        public static final Mirrors OWN = new Mirrors(null, null);
    }

    private ImageSource source(String what, @Nullable String from, @Nullable String registry) throws VmException {
        var definitions = new ImageDefinitions(registry);
        if (isFile(what)) {
            return definitions.read(Path.of(what), from);
        }
        if (from != null) {
            throw new VmException(
                    Code.IMAGE_DEFINITION,
                    "--from goes with a definition's file, which ends in .json, and '" + what + "' does not");
        }
        if (!ImageDefinitions.SHIPPED.contains(what)) {
            CarriedImage carried = store().carried(what);
            if (carried != null) {
                return ImageSource.of(carried.definition(), carried.lock());
            }
            for (GuestImage each : store().list()) {
                if (each.name().equals(what)) {
                    progress.say("building '" + what
                            + "' of what it was made of here before; to build it as a definition says"
                            + " now, name the definition's file");
                    return ImageSource.of(
                            each.record().definition(), each.record().lock());
                }
            }
        }
        return definitions.shipped(what);
    }

    /// Whether what is to be built is a definition's file, and no name.
    public static boolean isFile(String what) {
        return what.endsWith(".json") || what.contains("/");
    }

    /// The image of this name as it was recorded, even if another build's guest files are in it.
    ///
    /// @throws VmException `IMAGE_UNKNOWN` when there is none
    public GuestImage recorded(String name) throws VmException {
        return store().recorded(name);
    }

    /// Rebuilds an image from its archived packages, offline, compiles its tracer again, and compares every
    /// octet.
    ///
    /// @throws VmException `IMAGE_CORRUPT` when what it was built from has changed
    public ImageVerification verify(GuestImage image) throws VmException {
        return builder().verify(image, compiler());
    }

    /// Prepares what the first recording on an image would have to wait for, and says which tier recordings
    /// get. Without QEMU nothing is prepared: the image may be meant for another machine.
    ///
    /// @param option the requested tier of recordings
    /// @param mirror to fetch packages from instead of the machine's apt sources, or null
    public void prepare(TierOption option, GuestImage image, @Nullable String mirror) throws VmException {
        try {
            TierChoice choice = Hypervisor.opener()
                    .open(
                            data.root(),
                            InstantSource.system(),
                            CryptoProvider.current().random(),
                            progress)
                    .prepare(option, image, mirror);
            progress.say("recordings are " + choice.tier().label() + ": " + choice.reason());
        } catch (VmException e) {
            if (e.code() != Code.QEMU_MISSING) {
                throw e;
            }
            progress.say("no snapshot was prepared: " + e.getMessage());
        }
    }

    private ImageStore store() {
        return new ImageStore(data.root());
    }

    private GuestImageBuilder builder() {
        return new GuestImageBuilder(store(), InstantSource.system(), progress);
    }

    private GuestFiles.Derivation compiler() {
        return Hypervisor.compiler(data, TracerFiles.COMPILER, TracerFiles.COMPILED, progress);
    }

    private static GuestFiles files(GuestFiles.Derivation compiler) throws VmException {
        return GuestFiles.with(TracerFiles.all()).deriving(compiler);
    }
}
