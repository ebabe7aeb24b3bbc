/// The verdict on a replay, its document, and whether the log of runs vouches for it.
///
/// A verdict never touches the recording: it is stored beside it, and its hash is in a signed leaf of the log
/// of runs. What to sign and with which key is the caller's business.
@NullMarked
package blackbox.replay.verdict;

import org.jspecify.annotations.NullMarked;
