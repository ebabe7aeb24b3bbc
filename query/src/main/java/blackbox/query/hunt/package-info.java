/// Detection rules over what was recorded, as SQL.
@NullMarked
package blackbox.query.hunt;

import org.jspecify.annotations.NullMarked;
