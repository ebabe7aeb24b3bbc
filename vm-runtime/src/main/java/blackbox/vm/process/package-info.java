/// One QEMU: its command line, its process, its sockets and the folder that holds everything a crashed run leaves
/// behind, so that the next start can clean up.
///
/// `blackbox.vm.host`, `blackbox.vm.snapshot` and `blackbox.vm.replay` build machines on it; nothing else
/// uses it.
@NullMarked
package blackbox.vm.process;

import org.jspecify.annotations.NullMarked;
