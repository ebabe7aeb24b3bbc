/// The files that a run left on its guest's writable disk, and whether a replay left the same ones: both disks are
/// read as file systems, without mounting them, and compared name for name and octet for octet.
///
/// Both trees are claims of guests and may be hostile: every walk is bounded, and one that contradicts itself is
/// refused. Says of content nothing but lengths and digests, for files may hold secrets. Knows no verdict: that a
/// difference is one, is decided by the replays.
@NullMarked
package blackbox.replay.files;

import org.jspecify.annotations.NullMarked;
