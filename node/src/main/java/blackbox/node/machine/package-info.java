/// Which hypervisor runs a machine. Recordings, replays and images get it from here as a
/// [MachineHost][blackbox.vm.machine.MachineHost].
@NullMarked
package blackbox.node.machine;

import org.jspecify.annotations.NullMarked;
