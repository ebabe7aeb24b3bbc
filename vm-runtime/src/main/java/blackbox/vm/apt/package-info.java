/// Fetches Debian packages with the host's apt, on a state of its own: the machine's lists, caches and
/// installed packages are neither used nor changed, and nobody needs to be root.
///
/// Which mirror is used is the machine's own configuration or the caller's word; what comes from it is
/// checked by apt against the archive's signatures. Knows nothing of images or machines.
@NullMarked
package blackbox.vm.apt;

import org.jspecify.annotations.NullMarked;
