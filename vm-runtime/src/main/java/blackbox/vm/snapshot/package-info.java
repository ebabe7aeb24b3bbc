/// Warm snapshots: a machine that was stopped when its tracer was ready, and the store of those of a data folder.
@NullMarked
package blackbox.vm.snapshot;

import org.jspecify.annotations.NullMarked;
