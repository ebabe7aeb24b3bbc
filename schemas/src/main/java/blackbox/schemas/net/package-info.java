/// Network frames and captures of them, read alike by the recorder and by a replay.
///
/// Streams are handed in; nothing here opens a file or a socket.
@NullMarked
package blackbox.schemas.net;

import org.jspecify.annotations.NullMarked;
