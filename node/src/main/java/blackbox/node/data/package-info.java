/// Whom to trust, as an installation's data folder says.
@NullMarked
package blackbox.node.data;

import org.jspecify.annotations.NullMarked;
