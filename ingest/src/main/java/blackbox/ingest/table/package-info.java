/// The Iceberg table of events on the local disk: opening it, committing files to it, planning what to read.
/// The only package that imports Iceberg.
///
/// What a commit contains is all or nothing: files, with the state of their runs, and the topic's offsets. One writer
/// alone, or a group whose commits exclude each other by where the partitions stand, held by a lock; readers need
/// none.
@NullMarked
package blackbox.ingest.table;

import org.jspecify.annotations.NullMarked;
