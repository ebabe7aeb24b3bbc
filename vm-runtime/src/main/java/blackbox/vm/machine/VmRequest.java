package blackbox.vm.machine;

import blackbox.vm.image.GuestImage;
import blackbox.vm.workspace.WorkspaceSource;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// The machine to start.
///
/// @param image with the guest files that it is to run
/// @param size memory and processors
/// @param network what its interface is connected to
/// @param workspace what is copied in; null for none
/// @param start from a snapshot or cold
/// @param captures an existing folder for the files that [CaptureName] lists: of a machine that starts from a
///     snapshot, those about its disk, and in the exact tier all of them; null for none, which the exact tier does
///     not accept
/// @param tier how faithfully it can be run again
public record VmRequest(
        GuestImage image,
        MachineSize size,
        Network network,
        @Nullable WorkspaceSource workspace,
        Start start,
        @Nullable Path captures,
        Tier tier) {
    /// A machine that leaves nothing behind.
    ///
    /// @param workspace a folder to copy in, or an archive that an earlier machine was given; null for none
    public VmRequest(GuestImage image, MachineSize size, Network network, @Nullable Path workspace, Start start) {
        this(
                image,
                size,
                network,
                workspace == null ? null : new WorkspaceSource.Given(workspace),
                start,
                null,
                Tier.LIVE);
    }

    public VmRequest {
        if (tier == Tier.EXACT && (captures == null || start != Start.WARM)) {
            throw new IllegalArgumentException("an exact recording starts from a snapshot and keeps its log");
        }
        if (tier == Tier.EXACT && size.cpus() > 1) {
            throw new IllegalArgumentException("the exact tier counts the instructions of one processor");
        }
    }

    /// How a machine starts.
    public enum Start {
        /// From a warm snapshot, which is created if there is none.
        WARM,
        /// By booting its kernel.
        COLD
    }
}
