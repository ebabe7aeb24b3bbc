/// Packages of npm for an image: which ones a lock names, how they are fetched, and what is in their archives.
///
/// Nothing here executes what a package brings: its install scripts are never run, and its archive is read by
/// a strict reader. A package is identified by the SHA-512 in the lock, never by an address. Knows nothing of
/// images.
@NullMarked
package blackbox.vm.npm;

import org.jspecify.annotations.NullMarked;
