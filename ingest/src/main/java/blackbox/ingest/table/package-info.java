/// The Iceberg table of events on the local disk: opening it, committing files to it, planning what to read.
/// The only package that imports Iceberg.
///
/// What a commit contains is all or nothing: files, the topic's offsets and the state of open runs. One writer
/// at a time, held by a lock; readers need none.
@NullMarked
package blackbox.ingest.table;

import org.jspecify.annotations.NullMarked;
