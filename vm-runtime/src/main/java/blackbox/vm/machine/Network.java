package blackbox.vm.machine;

/// What the VM's network interface is connected to. The interface itself is always there.
public enum Network {
    /// Nothing: QEMU's user network answers for its own addresses and forwards no packet.
    NONE,
    /// A user network, in a process of its own: the guest may open connections to wherever the host can;
    /// 10.0.2.2 is the host's loopback.
    USER,
    /// The same within QEMU, as it was until 2026-11-26: only to know recordings from then.
    BUILT_IN,
    /// Whoever holds [Machine#network], and nothing else.
    PEER,
    /// The same, of a recording: its holder is the egress gateway.
    GATEWAY;

    /// Whether its other end is [Machine#network].
    public boolean isHeld() {
        return this == PEER || this == GATEWAY;
    }
}
