/// The port through which recordings and replays use a machine: what to start ([VmRequest]), what was started
/// ([StartFacts]), and a [Machine] with an agent in it. A hypervisor implements [MachineHost]; QEMU does in
/// `blackbox.vm.host`.
///
/// No process, no socket and no command line here.
@NullMarked
package blackbox.vm.machine;

import org.jspecify.annotations.NullMarked;
