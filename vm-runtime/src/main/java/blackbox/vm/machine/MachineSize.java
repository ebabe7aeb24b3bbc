package blackbox.vm.machine;

/// How large a machine is.
///
/// @param memoryMib RAM, 256 to 65536
/// @param cpus processors, 1 to 8, as many as the tracer has room for; a machine of the exact tier has one
public record MachineSize(int memoryMib, int cpus) {

    /// The default size.
    public static final MachineSize DEFAULT = new MachineSize(1024, 1);

    public static final int MEMORY_MIB_MIN = 256;
    public static final int MEMORY_MIB_MAX = 64 << 10;
    public static final int CPUS_MAX = 8;

    public MachineSize {
        if (memoryMib < MEMORY_MIB_MIN || memoryMib > MEMORY_MIB_MAX) {
            throw new IllegalArgumentException("a VM has 256 to 65536 MiB of memory, not " + memoryMib);
        }
        if (cpus < 1 || cpus > CPUS_MAX) {
            throw new IllegalArgumentException("a VM has 1 to 8 processors, not " + cpus);
        }
    }

    /// The size in a run's first event, which may leave either out.
    ///
    /// @param memoryMib 0 for the default
    /// @param cpus 0 for one
    public static MachineSize ofRecorded(int memoryMib, int cpus) {
        return new MachineSize(memoryMib == 0 ? DEFAULT.memoryMib() : memoryMib, Math.max(1, cpus));
    }
}
