/// What a run is by its first and its last row, and which run a name means.
@NullMarked
package blackbox.query.run;

import org.jspecify.annotations.NullMarked;
