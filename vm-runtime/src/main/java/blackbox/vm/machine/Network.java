package blackbox.vm.machine;

/// What the VM's network interface is connected to. The interface itself is always there.
public enum Network {
    /// Nothing: QEMU's user network answers for its own addresses and forwards no packet.
    NONE,
    /// QEMU's user network: the guest may open connections to wherever the host can; 10.0.2.2 is the host's loopback.
    USER,
    /// Whoever holds [Machine#network], and nothing else.
    PEER
}
