/// Where recordings are stored on disk, and how their rows are read in order: sealed data files first, then
/// the spool's tail.
///
/// A data file counts if its seal is beside it; no index is returned twice, even if files overlap. Reads
/// only. Knows no query engine and no catalog.
@NullMarked
package blackbox.evidence.store;

import org.jspecify.annotations.NullMarked;
