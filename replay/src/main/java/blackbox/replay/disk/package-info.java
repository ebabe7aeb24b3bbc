/// The VM's disk at any moment of a run: its snapshot's state image, the log of writes up to that moment, and
/// the guest's file systems on it.
///
/// Works on scratch copies and never writes to what was recorded.
@NullMarked
package blackbox.replay.disk;

import org.jspecify.annotations.NullMarked;
