/// Starts, restores, drives and ends virtual machines: QEMU as a child process, its sockets, the guest's protocol.
///
/// One `VirtualMachine` belongs to one run and one owner; its folder holds everything that a crashed run
/// leaves, so that the next start can clear it. The guest is hostile: each thing it says is bounded and typed
/// before it gets out of here.
@NullMarked
package blackbox.vm.machine;

import org.jspecify.annotations.NullMarked;
