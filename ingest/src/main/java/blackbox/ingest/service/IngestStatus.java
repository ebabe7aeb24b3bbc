package blackbox.ingest.service;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// How ingest is doing, and what it has done since it was started.
///
/// @param trouble what keeps it from working, as a sentence, or null
/// @param rows rows committed
/// @param bytes octets of data files committed
/// @param known batches that had arrived before
/// @param foreign batches of runs that another log of runs certified, which are for others to ingest
/// @param refused batches that failed their check and are in quarantine
/// @param unread records that the topic has and that were not read, as of the last answer of the broker; -1 if
/// that is
///     not known
/// @param waiting for how long the oldest record that was read has waited to be committed
public record IngestStatus(
        Phase phase,
        @Nullable String trouble,
        long rows,
        long bytes,
        long commits,
        long batches,
        long known,
        long foreign,
        long refused,
        long unread,
        Duration waiting) {

    /// Whether anything but how far behind it is has changed.
    public boolean isNews(@Nullable IngestStatus before) {
        return before == null
                || !equals(new IngestStatus(
                        before.phase,
                        before.trouble,
                        before.rows,
                        before.bytes,
                        before.commits,
                        before.batches,
                        before.known,
                        before.foreign,
                        before.refused,
                        unread,
                        waiting));
    }

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
