/// The rules about agents that Blackbox brings along.
@NullMarked
package blackbox.rules.shipped;

import org.jspecify.annotations.NullMarked;
