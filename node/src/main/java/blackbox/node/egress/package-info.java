/// The egress gateway of a run that is recorded: the policy that it asks, and the events that it makes.
@NullMarked
package blackbox.node.egress;

import org.jspecify.annotations.NullMarked;
