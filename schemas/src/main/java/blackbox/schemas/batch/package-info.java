/// The sealed batch: the unit that is spooled, sent through Kafka, checked and ingested.
///
/// Specified in `schemas/batch.md`. Decoding is strict and bounded: what is malformed is refused whole. No I/O.
@NullMarked
package blackbox.schemas.batch;

import org.jspecify.annotations.NullMarked;
