/// Compares what a run was started from, as its first event sealed it, with what is present now: image,
/// snapshot, workspace, QEMU, command line, captured files. All differences are found at once and are values,
/// each with the way to fix it.
///
/// Reads and hashes only; nothing is started here.
@NullMarked
package blackbox.replay.inputs;

import org.jspecify.annotations.NullMarked;
