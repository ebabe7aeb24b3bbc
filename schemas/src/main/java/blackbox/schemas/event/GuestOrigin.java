package blackbox.schemas.event;

import org.jspecify.annotations.Nullable;

/// Where a guest event came from: the CPU, and the CPU's own sequence number, which is incremented before
/// every attempt to emit, so that a gap is a loss.
///
/// @param actor whose act it is, null if that is not known
public record GuestOrigin(int cpu, long cpuSeq, @Nullable Actor actor) {

    public GuestOrigin {
        if (cpu < 0 || cpuSeq < 0) {
            throw new IllegalArgumentException("cpu and sequence number must not be negative");
        }
    }

    /// An origin of which it is not known whose act the event is.
    public GuestOrigin(int cpu, long cpuSeq) {
        this(cpu, cpuSeq, null);
    }
}
