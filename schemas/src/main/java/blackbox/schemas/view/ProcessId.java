package blackbox.schemas.view;

/// A process within a run: pids are reused, a pid together with its start is not.
///
/// @param startNs on the guest's boot clock
public record ProcessId(long pid, long startNs) {}
