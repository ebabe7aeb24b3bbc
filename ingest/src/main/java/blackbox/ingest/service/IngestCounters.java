package blackbox.ingest.service;

import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

/// What ingest has done since it was started. Written by its threads, read by any.
final class IngestCounters {

    final LongAdder rows = new LongAdder();
    final LongAdder bytes = new LongAdder();
    final LongAdder commits = new LongAdder();
    final LongAdder batches = new LongAdder();
    final LongAdder known = new LongAdder();
    final LongAdder foreign = new LongAdder();
    final LongAdder refused = new LongAdder();

    /// How many records the topic has that were not read; -1 before that is known.
    volatile long unread = -1;

    /// Since when the oldest record that the writer was given waits to be committed, a [System#nanoTime]; 0 if
    /// none does.
    volatile long waitingSinceNs;

    /// The same of the records that were read and are being checked.
    volatile long checkingSinceNs;

    Duration waiting() {
        long now = System.nanoTime();
        return Duration.ofNanos(Math.max(age(waitingSinceNs, now), age(checkingSinceNs, now)));
    }

    private static long age(long sinceNs, long nowNs) {
        return sinceNs == 0 ? 0 : Math.max(0, nowNs - sinceNs);
    }
}
