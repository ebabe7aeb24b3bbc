/// What is said of a replay: the verdict, its document, and whether the log of runs vouches for it.
///
/// A verdict never touches the recording: it lies beside it, and its hash stands under the signature of the
/// log of runs. What to sign and with which key is the caller's business.
@NullMarked
package blackbox.replay.verdict;

import org.jspecify.annotations.NullMarked;
