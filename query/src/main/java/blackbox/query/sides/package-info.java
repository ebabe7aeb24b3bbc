/// Whether guest and host saw the same network: what a recorder found, and what follows from the record again.
@NullMarked
package blackbox.query.sides;

import org.jspecify.annotations.NullMarked;
