/// The two ways to replay a run have one face: what to replay goes in, a verdict comes out. Which one a run
/// can have was fixed when it was recorded.
@NullMarked
package blackbox.replay.tier;

import org.jspecify.annotations.NullMarked;
