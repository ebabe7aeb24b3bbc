/// The guest's clock in a re-execution: how far it is from the recorded one, and how it is led along it. Needs no
/// machine: what a guest is told, and what it answers, goes through a port.
@NullMarked
package blackbox.replay.clock;

import org.jspecify.annotations.NullMarked;
