/// QEMU behind the port of `blackbox.vm.machine`: starts machines, cold or from a snapshot, and chooses the
/// tier for them (`TierChooser`), by the accelerator that `blackbox.vm.qemu` found.
@NullMarked
package blackbox.vm.host;

import org.jspecify.annotations.NullMarked;
