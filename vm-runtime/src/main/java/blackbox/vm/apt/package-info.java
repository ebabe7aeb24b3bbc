/// Fetches Debian packages with the host's apt, with a state of its own: the machine's lists, caches and
/// installed packages are neither used nor changed, and root is not needed.
///
/// The mirror comes from the machine's own configuration or from the caller; apt checks what it delivers
/// against the archive's signatures. Knows nothing of images or machines.
@NullMarked
package blackbox.vm.apt;

import org.jspecify.annotations.NullMarked;
