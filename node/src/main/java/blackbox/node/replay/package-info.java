/// A replay that is paused at a moment, as a session: commands in, answers out. It is built on
/// `blackbox.replay.seek`.
@NullMarked
package blackbox.node.replay;

import org.jspecify.annotations.NullMarked;
