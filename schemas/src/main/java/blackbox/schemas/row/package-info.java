/// The columns that are the evidence: a row of nullable typed columns, and the canonical leaf that is its encoding.
///
/// A leaf decodes to one row and a row encodes to one leaf, byte for byte; a leaf that does not survive this
/// round trip is kept raw. Specified in `schemas/leaf.md`. No I/O; a [Row] belongs to the thread that fills
/// it.
@NullMarked
package blackbox.schemas.row;

import org.jspecify.annotations.NullMarked;
