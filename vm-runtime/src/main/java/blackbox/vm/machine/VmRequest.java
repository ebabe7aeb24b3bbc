package blackbox.vm.machine;

import blackbox.vm.image.GuestImage;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// The machine to start.
///
/// @param image with the guest files that it is to run
/// @param memoryMib RAM
/// @param network what its interface is connected to
/// @param workspace a folder to copy in, or an archive that an earlier machine was given; null for none
/// @param start from a snapshot or cold
/// @param captures a folder, there already, for what a machine that starts from a snapshot leaves of its
///     disk, and in the exact tier of everything: see [CaptureName]; null for none, which the exact
///     tier does not take
/// @param tier how faithfully it can be run again
public record VmRequest(
        GuestImage image,
        int memoryMib,
        Network network,
        @Nullable Path workspace,
        Start start,
        @Nullable Path captures,
        Tier tier) {
    /// The default RAM.
    public static final int MEMORY_MIB_DEFAULT = 1024;

    private static final int MEMORY_MIB_MIN = 256;
    private static final int MEMORY_MIB_MAX = 64 << 10;

    /// A machine that leaves nothing behind.
    public VmRequest(GuestImage image, int memoryMib, Network network, @Nullable Path workspace, Start start) {
        this(image, memoryMib, network, workspace, start, null, Tier.LIVE);
    }

    public VmRequest {
        if (memoryMib < MEMORY_MIB_MIN || memoryMib > MEMORY_MIB_MAX) {
            throw new IllegalArgumentException("a VM has 256 to 65536 MiB of memory, not " + memoryMib);
        }
        if (tier == Tier.EXACT && (captures == null || start != Start.WARM)) {
            throw new IllegalArgumentException("an exact recording starts from a snapshot and keeps its log");
        }
    }

    /// How a machine comes up.
    public enum Start {
        /// From a warm snapshot, which is created if there is none.
        WARM,
        /// From its kernel.
        COLD
    }
}
