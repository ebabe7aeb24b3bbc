/// Warm snapshots: machines that were stopped when their tracer was ready, and the store of a data folder's
/// snapshots.
@NullMarked
package blackbox.vm.snapshot;

import org.jspecify.annotations.NullMarked;
