package blackbox.replay.disk;

import blackbox.evidence.store.FileDigest;
import blackbox.query.run.RunOpening;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.schemas.Hash;
import blackbox.schemas.folder.CaptureName;
import blackbox.vm.VmException;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.ImageStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/// What is beneath the log of a disk: the snapshot's state image and the image's read-only root, each checked
/// against the digests that the run sealed in its first event.
final class SealedImages {
    private static final int DIGESTS_BYTES_MAX = 1 << 16;
    private static final String STATE_LINE = "state.qcow2 ";

    private SealedImages() {}

    /// The state disk of the run's snapshot.
    ///
    /// @throws ReplayException `MISSING`, `ALTERED`
    static Path state(Path captures, RunOpening opening) throws ReplayException {
        Path file = CaptureName.BASE.in(captures);
        Hash wanted = line(CaptureName.BASE_DIGESTS.in(captures), String.valueOf(opening.snapshot()), STATE_LINE);
        if (!Files.isRegularFile(file)) {
            throw new ReplayException(Code.MISSING, file + " is missing; copy it from where the run was recorded");
        }
        check(file, wanted);
        return file;
    }

    /// The read-only root of the run's image, from any image in the store that has it.
    ///
    /// @throws ReplayException `MISSING`, `ALTERED`
    static Path root(Path data, Path captures, RunOpening opening) throws ReplayException {
        RunOpening.Image sealed = opening.image();
        String name = sealed == null ? "" : sealed.name();
        Hash wanted = line(
                CaptureName.IMAGE_DIGESTS.in(captures),
                sealed == null ? "" : sealed.digest().toString(),
                GuestImage.ROOT + " ");
        try {
            for (GuestImage image : new ImageStore(data).listForReplay()) {
                if (image.sha256(GuestImage.ROOT).equals(wanted)) {
                    check(image.file(GuestImage.ROOT), wanted);
                    return image.file(GuestImage.ROOT);
                }
            }
        } catch (VmException e) {
            throw new ReplayException(Code.ENGINE, String.valueOf(e.getMessage()), e);
        }
        throw new ReplayException(
                Code.MISSING,
                "no image here has the root that the run had (root.erofs with SHA-256 " + wanted
                        + "); rebuild it with 'blackbox image build " + name + "' and compare with 'blackbox image"
                        + " verify', or copy the image's folder from where the run was recorded");
    }

    private static void check(Path file, Hash wanted) throws ReplayException {
        try {
            if (!FileDigest.sha256(file).equals(wanted)) {
                throw new ReplayException(
                        Code.ALTERED,
                        file + " is not what the run sealed (SHA-256 " + wanted
                                + "); copy it again from where the run was recorded");
            }
        } catch (IOException e) {
            throw new ReplayException(Code.ENGINE, file + " cannot be read: " + e.getMessage(), e);
        }
    }

    /// The digest in a line of a text whose own digest the run sealed.
    private static Hash line(Path file, String sealed, String beginning) throws ReplayException {
        try {
            if (!Files.isRegularFile(file)) {
                throw new ReplayException(Code.MISSING, file + " is missing; copy it from where the run was recorded");
            }
            byte[] octets;
            try (var in = Files.newInputStream(file)) {
                octets = in.readNBytes(DIGESTS_BYTES_MAX);
            }
            if (!Hash.sha256(octets).toString().equals(sealed)) {
                throw new ReplayException(
                        Code.ALTERED,
                        file + " does not have the digest that the run sealed, " + sealed
                                + "; copy it again from where the run was recorded");
            }
            String text = new String(octets, StandardCharsets.UTF_8);
            return text.lines()
                    .filter(each -> each.startsWith(beginning))
                    .findFirst()
                    .map(each -> Hash.ofHex(each.substring(beginning.length())))
                    .orElseThrow(() -> new ReplayException(Code.ALTERED, file + " does not contain " + beginning));
        } catch (IOException e) {
            throw new ReplayException(Code.ENGINE, file + " cannot be read: " + e.getMessage(), e);
        }
    }
}
