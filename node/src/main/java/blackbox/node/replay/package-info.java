/// A replay that stands still at a moment, as a session: commands in, answers out. What it stands on is in
/// `blackbox.replay.seek`.
@NullMarked
package blackbox.node.replay;

import org.jspecify.annotations.NullMarked;
