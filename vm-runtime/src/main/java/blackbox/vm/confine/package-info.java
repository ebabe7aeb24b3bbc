/// The wall around the hypervisor: what a guest that breaks out of QEMU finds.
///
/// [Confinement] says which mechanism this process uses, [Box] starts one process within it, [SyscallFilter] is the
/// list of system calls that it may make, and [OtherUser] is who it is when we are root.
@NullMarked
package blackbox.vm.confine;

import org.jspecify.annotations.NullMarked;
