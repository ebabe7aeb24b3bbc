/// A run's events in forms that others' tools read.
@NullMarked
package blackbox.query.export;

import org.jspecify.annotations.NullMarked;
