/// Speaks QEMU's Machine Protocol over a Unix socket: commands with a time limit, events to a listener.
///
/// Knows the protocol and nothing about the machine's purpose. QEMU is trusted more than the guest, but the
/// length of its lines is bounded as well.
@NullMarked
package blackbox.vm.qmp;

import org.jspecify.annotations.NullMarked;
