/// QEMU behind the port of `blackbox.vm.machine`: starts machines, cold or from a snapshot, and chooses the
/// tier and the accelerator for them.
@NullMarked
package blackbox.vm.host;

import org.jspecify.annotations.NullMarked;
