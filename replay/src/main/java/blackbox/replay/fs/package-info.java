/// Reads file systems in image files without mounting them: the guest's writable ext4, its read-only EROFS,
/// and the merged tree that overlayfs makes of both.
///
/// An image's content is the guest's claim. Every number is checked before it is used, every walk is bounded,
/// and nothing is ever created on the host under a name that is found here.
@NullMarked
package blackbox.replay.fs;

import org.jspecify.annotations.NullMarked;
