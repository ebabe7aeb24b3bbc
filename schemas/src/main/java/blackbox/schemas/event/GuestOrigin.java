package blackbox.schemas.event;

import org.jspecify.annotations.Nullable;

/// Where a guest event came from: the CPU, and the CPU's own sequence number, which is incremented before
/// every attempt to emit, so that a gap is a loss.
///
/// @param actor whose act it is, null if that is not known
/// @param seen how the process itself saw the files, as a JSON object (schemas/events.md); null if as the agent's first
///     processes do
public record GuestOrigin(
        int cpu,
        long cpuSeq,
        @Nullable Actor actor,
        @Nullable String seen) {

    public GuestOrigin {
        if (cpu < 0 || cpuSeq < 0) {
            throw new IllegalArgumentException("cpu and sequence number must not be negative");
        }
    }

    /// An origin of which it is not known whose act the event is.
    public GuestOrigin(int cpu, long cpuSeq) {
        this(cpu, cpuSeq, null);
    }

    /// An origin of an event whose process sees files as the agent's first processes do.
    public GuestOrigin(int cpu, long cpuSeq, @Nullable Actor actor) {
        this(cpu, cpuSeq, actor, null);
    }
}
