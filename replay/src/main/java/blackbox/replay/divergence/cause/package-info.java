/// Finds the first input that may have led to a divergence: what had happened before it in its process, in those
/// that it was started by or waited for, and in those whose files it read. Depends on `align`, `strand` and
/// `text`.
@NullMarked
package blackbox.replay.divergence.cause;

import org.jspecify.annotations.NullMarked;
