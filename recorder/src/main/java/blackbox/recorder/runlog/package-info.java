/// The log of runs (L2): one per data folder, as C2SP tlog-tiles files, written by several processes under one lock.
///
/// Its leaves are signed notes: key statements, run key certificates, and checkpoints of runs. What is
/// appended is durable when the call returns; every append starts from what is on the disk, so recovery is
/// not a separate path.
@NullMarked
package blackbox.recorder.runlog;

import org.jspecify.annotations.NullMarked;
