package blackbox.vm.machine;

/// What the agent may use of its guest. The guest enforces it before the agent begins.
///
/// @param pidsMax most processes and threads at once, 0 for no limit
/// @param diskBytesMax what its disk holds besides the image: the workspace that goes in and all that is
///     written, 0 for all that the VM's disk has room for
public record AgentLimits(int pidsMax, long diskBytesMax) {

    /// No limit but the machine's size.
    public static final AgentLimits NONE = new AgentLimits(0, 0);

    /// Unless another is asked for: what a build of some size needs, and half of what the VM's disk has room
    /// for, because all of it may end up on the host's.
    public static final long DISK_BYTES_DEFAULT = 8L << 30;

    public static final long DISK_BYTES_MIN = 16L << 20;

    /// The VM's disk is 16 GiB long; what its file system needs for itself is not the agent's.
    public static final long DISK_BYTES_MAX = 15L << 30;

    public AgentLimits {
        if (pidsMax < 0) {
            throw new IllegalArgumentException("a limit of " + pidsMax + " processes");
        }
        if (diskBytesMax != 0 && (diskBytesMax < DISK_BYTES_MIN || diskBytesMax > DISK_BYTES_MAX)) {
            throw new IllegalArgumentException("an agent's disk has 16 MiB to 15 GiB, not " + diskBytesMax + " bytes");
        }
    }
}
