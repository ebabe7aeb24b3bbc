/// The log over a run's leaves: RFC 6962 hashing, C2SP signed notes and checkpoints.
///
/// Pure computation; hashing uses the JDK's provider because it is the fastest, signatures come from
/// `blackbox.schemas.sign`.
/// Nothing here reads a clock, a key file or a socket.
@NullMarked
package blackbox.schemas.log;

import org.jspecify.annotations.NullMarked;
