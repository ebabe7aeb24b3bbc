package blackbox.vm.machine;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/// What the VM's network interface is connected to. The interface itself is always there.
public enum Network {
    /// Nothing: QEMU's user network answers for its own addresses and forwards no packet.
    NONE,
    /// QEMU's user network: the guest may open connections to wherever the host can; 10.0.2.2 is the host's loopback.
    USER,
    /// Whoever holds [VirtualMachine#network], and nothing else.
    PEER;

    /// Values of `-netdev`; the interface's is called `net`. A snapshot carries the state of QEMU's user network
    /// and loads only where there is one: beside a peer it is restricted and no interface is connected to it.
    List<String> netdevs() {
        return switch (this) {
            case NONE -> List.of("user,id=net,restrict=on");
            case USER -> List.of("user,id=net,restrict=off");
            case PEER ->
                List.of(
                        "stream,id=net,server=off,addr.type=unix,addr.path=" + QemuArguments.SOCKETS + "/net",
                        "user,id=unconnected,restrict=on");
        };
    }

    /// The sockets that a machine on this network has.
    Set<MachineSockets.Port> ports() {
        return this == PEER
                ? EnumSet.allOf(MachineSockets.Port.class)
                : EnumSet.copyOf(MachineSockets.Port.CHARACTER_DEVICES);
    }
}
