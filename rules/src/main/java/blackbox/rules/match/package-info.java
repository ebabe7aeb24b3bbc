/// The watch over a run's events, which says which rules hold of them.
@NullMarked
package blackbox.rules.match;

import org.jspecify.annotations.NullMarked;
