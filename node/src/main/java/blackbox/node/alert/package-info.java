/// Detection rules over a run while it is recorded: alerts, who is told of them, and what they stop.
@NullMarked
package blackbox.node.alert;

import org.jspecify.annotations.NullMarked;
