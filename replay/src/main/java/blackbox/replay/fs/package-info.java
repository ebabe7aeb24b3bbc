/// Reads file systems out of image files, without mounting them: the guest's writable ext4, its read-only
/// EROFS, and the one tree that overlayfs makes of both.
///
/// What an image says is a guest's word. Every number is checked before it is used, every walk is bounded,
/// and nothing is ever created on the host by a name that is found here.
@NullMarked
package blackbox.replay.fs;

import org.jspecify.annotations.NullMarked;
