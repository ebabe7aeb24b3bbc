/// Replays, wired: machines of vm-runtime, the recorder's decoders, and the comparison of replay. Reads a
/// recorded run and never writes to one.
@NullMarked
package blackbox.node.replay;

import org.jspecify.annotations.NullMarked;
