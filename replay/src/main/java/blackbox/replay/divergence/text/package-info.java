/// Words of events that differ in a second run: process numbers, names that programs make up, ports. They are
/// hashed, distinguished from words that both runs have, and made equal. Depends on nothing but the event model.
@NullMarked
package blackbox.replay.divergence.text;

import org.jspecify.annotations.NullMarked;
