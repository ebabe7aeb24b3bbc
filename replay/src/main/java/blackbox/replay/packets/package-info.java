/// The frames of a run as one file for tools that show packets.
@NullMarked
package blackbox.replay.packets;

import org.jspecify.annotations.NullMarked;
