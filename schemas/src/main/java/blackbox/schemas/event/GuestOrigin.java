package blackbox.schemas.event;

/// Where a guest event came from: the CPU, and the CPU's own sequence number, which is incremented before
/// every attempt to emit, so that a gap is a loss.
public record GuestOrigin(int cpu, long cpuSeq) {

    public GuestOrigin {
        if (cpu < 0 || cpuSeq < 0) {
            throw new IllegalArgumentException("cpu and sequence number must not be negative");
        }
    }
}
