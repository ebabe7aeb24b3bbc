package blackbox.node.record;

import blackbox.files.AtomicFiles;
import blackbox.schemas.folder.CaptureName;
import blackbox.vm.VmException;
import blackbox.vm.machine.GuestEntropy;
import blackbox.vm.machine.Machine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/// The inputs of a run that a replay needs again, stored in its captures folder: the archive of its workspace
/// and the entropy of its guest, both readable by their owner alone. `run.open` seals their digests, not
/// their content.
final class KeptInputs {

    private KeptInputs() {}

    /// Stores them; the workspace only if it fits into `bytesMax` octets.
    static void keep(Machine vm, GuestEntropy entropy, Path folder, long bytesMax) throws VmException, IOException {
        long bytes = vm.facts().workspace().bytes();
        if (bytes > 0 && bytes <= bytesMax) {
            vm.copyWorkspaceIn(CaptureName.WORKSPACE.in(folder));
        }
        byte[] octets = (entropy.toHex() + "\n").getBytes(StandardCharsets.US_ASCII);
        var ownerOnly = PosixFilePermissions.fromString("rw-------");
        AtomicFiles.onDisk().replace(CaptureName.ENTROPY.in(folder), octets, ownerOnly);
    }
}
