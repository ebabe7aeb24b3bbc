package blackbox.replay.inputs;

import blackbox.replay.capture.SealedCapture;
import blackbox.vm.image.GuestImage;
import blackbox.vm.qemu.Qemu;
import blackbox.vm.snapshot.VmSnapshot;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a run was started from: present, hashed again, and unchanged.
///
/// @param image the image with the sealed digest, whatever its present name
/// @param qemu the QEMU with the sealed digest
/// @param snapshot the warm snapshot; null when the run was started cold
/// @param workspace the workspace's archive, or a folder that packs to it; null when there was none
/// @param captures the captured files, by name; those that the tier reads have been checked
public record CheckedInputs(
        GuestImage image,
        Qemu qemu,
        @Nullable VmSnapshot snapshot,
        @Nullable Path workspace,
        Map<String, SealedCapture> captures) {
    public CheckedInputs {
        captures = Map.copyOf(captures);
    }
}
