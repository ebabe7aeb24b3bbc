package blackbox.replay.verdict;

/// By how much the two guests' wall clocks differed at events that both sides have, in nanoseconds.
///
/// @param events at how many of them it was determined, at least one
/// @param p50Ns what half of the offsets did not exceed, whatever their sign
/// @param p99Ns what 99 of 100 did not exceed
/// @param maxNs the largest, positive if the replayed guest's clock was later
public record SharedOffsets(long events, long p50Ns, long p99Ns, long maxNs) {
    public SharedOffsets {
        boolean ordered = 0 <= p50Ns && p50Ns <= p99Ns && (maxNs <= -p99Ns || maxNs >= p99Ns);
        if (events < 1 || !ordered) {
            throw new IllegalArgumentException("offsets that contradict each other");
        }
    }
}
