/// Words of events that a second run writes otherwise: process numbers, names that programs make up, ports. They are
/// hashed, told from words that are known to both runs, and made alike. Depends on nothing but the event model.
@NullMarked
package blackbox.replay.divergence.text;

import org.jspecify.annotations.NullMarked;
