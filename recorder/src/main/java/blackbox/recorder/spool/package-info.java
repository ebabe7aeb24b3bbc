/// The spool: an append-only, fsynced queue of sealed batches on the recorder's disk, one folder per run.
///
/// A batch leaves it only when the broker has acknowledged it. After a crash, what is left in it is published
/// again; ingest drops what it already has.
@NullMarked
package blackbox.recorder.spool;

import org.jspecify.annotations.NullMarked;
