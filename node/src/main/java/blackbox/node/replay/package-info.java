/// A replay paused at a moment, as a session: commands in, answers out. Built on `blackbox.replay.seek`.
@NullMarked
package blackbox.node.replay;

import org.jspecify.annotations.NullMarked;
