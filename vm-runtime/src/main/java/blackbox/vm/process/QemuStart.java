package blackbox.vm.process;

import blackbox.vm.machine.Network;
import blackbox.vm.process.MachineSockets.Port;
import java.util.List;
import java.util.Set;

/// What is needed to start one QEMU in its machine's folder.
///
/// @param network that the guest has
/// @param ports that QEMU connects while it starts
/// @param argv its complete command line
public record QemuStart(MachineParts parts, Network network, Set<Port> ports, List<String> argv) {}
