/// The spool: an append-only, fsynced queue of sealed batches on the recorder's disk, one folder per run.
///
/// A batch leaves it only when the broker has acknowledged it. After a crash what is there is published again;
/// ingest drops what it has already.
@NullMarked
package blackbox.recorder.spool;

import org.jspecify.annotations.NullMarked;
