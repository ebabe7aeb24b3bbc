/// The recorder: takes what guest and host report, orders it, seals it and makes it durable before it counts.
///
/// Sub-packages: `guest` decodes the tracer's stream, `net` folds frames into flows, `feed` carries both to
/// the writer while a machine runs, `capture` seals the files beside them, `seal` builds signed batches,
/// `spool` keeps them until the broker has them, `publish` sends them, `keys` stores keys on the host, `runlog`
/// writes the log of runs, `anchor` takes it to outside parties, `witness` is one for others' logs.
/// Depends on `schemas`, `files` and `evidence`. Never trusts a length, a clock or a claim of the guest.
@NullMarked
package blackbox.recorder;

import org.jspecify.annotations.NullMarked;
