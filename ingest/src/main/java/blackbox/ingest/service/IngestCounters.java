package blackbox.ingest.service;

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
}
