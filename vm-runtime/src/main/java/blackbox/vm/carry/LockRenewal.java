package blackbox.vm.carry;

import blackbox.schemas.Progress;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.LockDifference;
import blackbox.vm.image.GuestFiles;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.GuestImageBuilder;
import blackbox.vm.image.GuestImageBuilder.LockPolicy;
import blackbox.vm.image.ImageDefinition;
import blackbox.vm.image.ImageLock;
import blackbox.vm.image.ImageStore;
import blackbox.vm.qemu.QemuBuild;
import blackbox.vm.qemu.QemuBuilds;
import blackbox.vm.qemu.QemuLock;
import blackbox.vm.qemu.QemuTrial;
import blackbox.vm.qemu.TrialMachine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Renews the shipped locks from today's archive. They are written once image and QEMU have been built from
/// today's packages and QEMU has passed its trial on that image's kernel; a lock in which no package changed
/// is left alone.
public final class LockRenewal {
    private static final String IMAGE_LOCK = "vm-runtime/images/default.lock";
    private static final String QEMU_LOCK = "vm-runtime/src/main/resources/blackbox/vm/qemu/debian-13.lock";

    private final Path data;
    private final Path sources;
    private final Progress progress;

    /// @param data where image and QEMU are built
    /// @param sources the root of Blackbox's sources
    public LockRenewal(Path data, Path sources, Progress progress) {
        this.data = data;
        this.sources = sources;
        this.progress = progress;
    }

    /// What was renewed.
    ///
    /// @param imageChanges the packages of the image that differ from the previous lock
    /// @param qemuChanges those of QEMU
    public record Renewed(
            GuestImage image, List<LockDifference> imageChanges, QemuBuild qemu, List<LockDifference> qemuChanges) {

        /// SHA-256 of the renewed QEMU's files, in hex.
        public String qemuDigest() {
            return qemu.record().files().sha256();
        }
    }

    /// Renews both locks.
    ///
    /// @param files of the guest, for the image
    /// @param mirror instead of the machine's apt sources, or null
    /// @throws VmException `IMAGE_DEFINITION` when the locks are not in the sources; `QEMU_FAILED` when today's
    /// QEMU did not pass its trial; and the failures of building
    public Renewed renew(GuestFiles files, @Nullable String mirror) throws VmException {
        var oldImage = ImageLock.read(sources.resolve(IMAGE_LOCK));
        var oldQemu = QemuLock.read(sources.resolve(QEMU_LOCK));
        GuestImage image = new GuestImageBuilder(new ImageStore(data), InstantSource.system(), progress)
                .build(ImageDefinition.named("default"), files, LockPolicy.RENEW, mirror);
        QemuBuild qemu = new QemuBuilds(data, progress).renew(mirror);
        var admission = new QemuTrial(data, TrialMachine.exact(), progress).of(qemu.qemu(), image);
        if (!admission.admitted()) {
            throw new VmException(
                    Code.QEMU_FAILED,
                    "today's QEMU, " + qemu.record().version() + ", is not locked: " + admission.reason());
        }
        progress.say(qemu.record().version() + " " + admission.reason());
        ImageLock newImage = image.record().lock();
        QemuLock newQemu = QemuLock.of(qemu);
        var changes = new Renewed(
                image,
                LockDifference.between(oldImage.files(), newImage.files()),
                qemu,
                LockDifference.between(oldQemu.packages(), newQemu.packages()));
        // A lock whose definition has changed is renewed even if it names the same packages.
        if (!changes.imageChanges().isEmpty() || !oldImage.isFor(image.record().definition())) {
            write(IMAGE_LOCK, newImage.text());
        }
        if (!changes.qemuChanges().isEmpty()) {
            write(QEMU_LOCK, newQemu.text());
        }
        return changes;
    }

    private void write(String lock, String text) throws VmException {
        try {
            Files.writeString(sources.resolve(lock), text);
        } catch (IOException e) {
            throw new VmException(Code.IO, sources.resolve(lock) + " could not be written", e);
        }
    }
}
