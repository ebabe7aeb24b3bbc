/// How a request of a re-executed guest stands for a recorded one that it is not equal to: where programs write ids
/// that they draw anew each time. Each such id stands for one other, wherever it is sent from then on.
@NullMarked
package blackbox.replay.request;

import org.jspecify.annotations.NullMarked;
