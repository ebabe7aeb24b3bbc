package blackbox.vm.machine;

/// How well a guest that counts instructions kept the host's time, by its own account.
///
/// @param readings how often its clock was read
/// @param largestNs the largest offset of its wall clock from the host's, negative where it was behind
/// @param medianNs what half of the offsets did not exceed, whatever their sign, to a millisecond
/// @param p99Ns what 99 of 100 did not exceed
/// @param forwardNs by how much its clock was set forward in total
/// @param heldNs how long it was paused in total because it was ahead
public record ClockDrift(long readings, long largestNs, long medianNs, long p99Ns, long forwardNs, long heldNs) {}
