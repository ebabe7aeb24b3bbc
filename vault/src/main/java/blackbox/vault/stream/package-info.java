/// Streams that have a thread of their own, so that what makes octets and what takes them work at the same
/// time.
///
/// They change no octet, lose none silently, and hold a fixed amount of memory, however long the stream is.
@NullMarked
package blackbox.vault.stream;

import org.jspecify.annotations.NullMarked;
