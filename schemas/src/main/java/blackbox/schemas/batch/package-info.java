/// The sealed batch: the unit that is spooled, sent through Kafka, checked and ingested.
///
/// Specified in `schemas/batch.md`. Decoding is strict and bounded: a malformed batch is refused as a whole.
/// No I/O.
@NullMarked
package blackbox.schemas.batch;

import org.jspecify.annotations.NullMarked;
