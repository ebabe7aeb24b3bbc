/// Ingest as a service: takes batches from the topic, has them checked, and commits rows, offsets and progress
/// together.
///
/// One thread writes; after an operating failure it starts again from the last commit.
@NullMarked
package blackbox.ingest.service;

import org.jspecify.annotations.NullMarked;
