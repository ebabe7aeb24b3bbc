package blackbox.vm.machine;

import blackbox.vm.image.GuestImage;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// What machine to start.
///
/// @param image with the guest files it shall run
/// @param memoryMib RAM
/// @param network what its interface is connected to
/// @param workspace a folder to copy in, or an archive that an earlier machine was given; null for none
/// @param start from a snapshot or from nothing
/// @param captures a folder, there already, for what a machine that starts from a snapshot leaves of its
///     disk: see [#BLOCKS], [#BASE], [#BASE_DIGESTS] and [#IMAGE_DIGESTS]; null for none, which the exact
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
    /// RAM when nobody says otherwise.
    public static final int MEMORY_MIB_DEFAULT = 1024;

    /// In the folder for captures: every write to the state disk, in order, as Linux's dm-log-writes would
    /// log it.
    public static final String BLOCKS = "blocks";

    /// There too: the state disk as the snapshot had it, a qcow2 image.
    public static final String BASE = "base.qcow2";

    /// There too: the text whose SHA-256 is the snapshot's digest. It names the digest of [#BASE].
    public static final String BASE_DIGESTS = "base.digests";

    /// And there: the text whose SHA-256 is the image's digest. It names the digest of the root under the state disk.
    public static final String IMAGE_DIGESTS = "image.digests";

    /// There too, in the exact tier: RAM and devices of the snapshot.
    public static final String RAM = "ram";

    /// See [#RAM].
    public static final String DEVICES = "devices";

    /// There too, in the exact tier: the first octets of a log of this QEMU's.
    public static final String HEADER = "rr.header";

    /// There too, in the exact tier: what the tracer sent before the snapshot.
    public static final String EVENTS_BEFORE = "events.before";

    /// There too, in the exact tier: what QEMU logged of what came from outside, without its first 12 octets.
    public static final String LOG = "rr";

    /// There too, in the exact tier: everything that the tracer sent.
    public static final String EVENTS = "events";

    /// There too, in the exact tier: what the guest wrote to its console.
    public static final String CONSOLE = "console";

    /// There too, in the exact tier: what the agent wrote, in the frames of the guest's protocol.
    public static final String STDIO = "stdio";

    /// There too, in the exact tier: what the guest's first process said.
    public static final String CONTROL = "control";

    private static final int MEMORY_MIB_MIN = 256;
    private static final int MEMORY_MIB_MAX = 64 << 10;

    /// A machine of which nothing is kept.
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
        /// From a warm snapshot, which is made when there is none.
        WARM,
        /// From its kernel.
        COLD
    }
}
