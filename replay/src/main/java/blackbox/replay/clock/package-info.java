/// The guest's clock in a re-execution: how far it is from the recorded one.
@NullMarked
package blackbox.replay.clock;

import org.jspecify.annotations.NullMarked;
