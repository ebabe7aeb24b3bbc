/// The event model: everything that a recorder can report about a run, as records in one sealed family.
///
/// An event becomes a row through [EventRows] and is only ever stored that way. Values that were cut or could
/// not be read carry a mark; an unmarked empty value was really empty. No I/O.
@NullMarked
package blackbox.schemas.event;

import org.jspecify.annotations.NullMarked;
