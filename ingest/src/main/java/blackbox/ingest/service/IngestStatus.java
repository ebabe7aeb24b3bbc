package blackbox.ingest.service;

import org.jspecify.annotations.Nullable;

/// How ingest is doing, and what it has done since it was started.
///
/// @param trouble what keeps it from working, as a sentence, or null
/// @param rows rows committed
/// @param bytes octets of data files committed
/// @param known batches that had arrived before
/// @param foreign batches of runs that another log of runs certified, which are for others to ingest
/// @param refused batches that failed their check and are in quarantine
public record IngestStatus(
        Phase phase,
        @Nullable String trouble,
        long rows,
        long bytes,
        long commits,
        long batches,
        long known,
        long foreign,
        long refused) {

    public enum Phase {
        STARTING,
        RUNNING,
        /// An operating failure; ingest retries by itself.
        RETRYING,
        /// Ended by an error that retrying does not fix.
        FAILED,
        STOPPED
    }
}
