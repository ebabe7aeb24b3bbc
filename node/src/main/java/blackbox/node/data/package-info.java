/// The data folder: the one place that knows what lies where in it.
///
/// Paths only; who reads and writes what is there is each module's own business.
@NullMarked
package blackbox.node.data;

import org.jspecify.annotations.NullMarked;
