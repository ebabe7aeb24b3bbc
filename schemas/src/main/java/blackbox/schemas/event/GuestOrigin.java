package blackbox.schemas.event;

import org.jspecify.annotations.Nullable;

/// Where a guest event came from: the CPU, and the CPU's own sequence number, which is incremented before
/// every attempt to emit, so that a gap is a loss.
///
/// @param actor whose act it is, null if that is not known
/// @param seen how the process itself saw the files, as a JSON object (schemas/events.md); null if as the agent's first
///     processes do
/// @param container the number of the container in which it was done, 1 to [#CONTAINER_UNKNOWN]; 0 where the
///     agent's first processes are
public record GuestOrigin(
        int cpu,
        long cpuSeq,
        @Nullable Actor actor,
        @Nullable String seen,
        int container) {

    /// It was done in several containers, in one beyond those that have a number, or by a process that was ending.
    public static final int CONTAINER_UNKNOWN = 2047;

    public GuestOrigin {
        if (cpu < 0 || cpuSeq < 0 || container < 0 || container > CONTAINER_UNKNOWN) {
            throw new IllegalArgumentException("cpu, sequence number or container are out of range");
        }
    }

    /// An origin of which it is not known whose act the event is.
    public GuestOrigin(int cpu, long cpuSeq) {
        this(cpu, cpuSeq, null);
    }

    /// An origin of an event whose process sees files as the agent's first processes do.
    public GuestOrigin(int cpu, long cpuSeq, @Nullable Actor actor) {
        this(cpu, cpuSeq, actor, null, 0);
    }
}
