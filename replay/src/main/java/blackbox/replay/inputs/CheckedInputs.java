package blackbox.replay.inputs;

import blackbox.replay.capture.SealedCapture;
import blackbox.vm.image.GuestImage;
import blackbox.vm.qemu.Qemu;
import blackbox.vm.snapshot.VmSnapshot;
import blackbox.vm.workspace.WorkspaceSource;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a run was started from: present, hashed again, and unchanged.
///
/// @param image the image with the sealed digest, whatever its present name
/// @param qemu the QEMU with the sealed digest
/// @param snapshot the warm snapshot; null when the run was started cold
/// @param workspace what the run was given; null when there was none
/// @param captures the captured files, by name; those that the tier reads have been checked
public record CheckedInputs(
        GuestImage image,
        Qemu qemu,
        @Nullable VmSnapshot snapshot,
        @Nullable WorkspaceSource workspace,
        Map<String, SealedCapture> captures) {
    public CheckedInputs {
        captures = Map.copyOf(captures);
    }
}
