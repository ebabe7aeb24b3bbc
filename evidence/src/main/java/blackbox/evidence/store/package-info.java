/// Where recordings lie on disk, and how their rows are read in order: sealed data files first, then the
/// spool's tail.
///
/// A data file counts when its seal stands beside it; no index is given twice, even where files overlap.
/// Reads only. Knows no query engine and no catalog.
@NullMarked
package blackbox.evidence.store;

import org.jspecify.annotations.NullMarked;
