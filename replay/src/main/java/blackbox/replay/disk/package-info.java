/// The VM's disk at any moment of a run: its snapshot's state image, the log of writes up to there, and what
/// the guest's file systems make of it.
///
/// Works on scratch copies and never writes to what was recorded.
@NullMarked
package blackbox.replay.disk;

import org.jspecify.annotations.NullMarked;
