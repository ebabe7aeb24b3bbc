/// Work of the kinds that agents do, to be recorded, executed again, and landed in.
@NullMarked
package blackbox.bench.work;

import org.jspecify.annotations.NullMarked;
