/// Warm snapshots: machines that were stopped once their tracer was ready, and a data folder's store of them.
@NullMarked
package blackbox.vm.snapshot;

import org.jspecify.annotations.NullMarked;
