/// Speaks QEMU's Machine Protocol over a Unix socket: commands with a time limit, events to a listener.
///
/// Knows the protocol and nothing of what the machine is for. QEMU is trusted more than the guest, but its lines are
/// bounded all the same.
@NullMarked
package blackbox.vm.qmp;

import org.jspecify.annotations.NullMarked;
