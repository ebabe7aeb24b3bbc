/// The common interface of the two ways to replay a run: a request goes in, a verdict comes out. Which of
/// them applies to a run was fixed when it was recorded.
@NullMarked
package blackbox.replay.tier;

import org.jspecify.annotations.NullMarked;
