/// The host's own view of the network: frames seen outside the guest, folded into flows with names and byte counts.
///
/// Frames are hostile input: every header is checked against what was captured, and tables are bounded.
@NullMarked
package blackbox.recorder.net;

import org.jspecify.annotations.NullMarked;
