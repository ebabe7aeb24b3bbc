/// What Blackbox stores and sends, as pure values: identifiers, hashes, events, rows, leaves, batches and the log over
/// them.
///
/// Depends on nothing of ours; Bouncy Castle is reached through `blackbox.schemas.sign` alone.
/// Nothing here reads a file, opens a socket, looks at the clock or draws a random number.
@NullMarked
package blackbox.schemas;

import org.jspecify.annotations.NullMarked;
