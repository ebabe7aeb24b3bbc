/// One QEMU: its command line, its process, its sockets and the folder that holds everything a crashed run leaves, so
/// that the next start can clear it.
///
/// Machines are made of it in `blackbox.vm.host`, `blackbox.vm.snapshot` and `blackbox.vm.replay`; nobody
/// else needs it.
@NullMarked
package blackbox.vm.process;

import org.jspecify.annotations.NullMarked;
