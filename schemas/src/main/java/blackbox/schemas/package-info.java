/// What Blackbox stores and sends, as pure values: identifiers, hashes, events, rows, leaves, batches, the table's
/// shape, the names of the data folder.
///
/// Depends on nothing of ours and on no library. Nothing here reads a file, opens a socket or reads the
/// clock.
@NullMarked
package blackbox.schemas;

import org.jspecify.annotations.NullMarked;
