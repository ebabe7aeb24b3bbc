package blackbox.vm.machine;

/// What executes the guest's instructions, and why it is this one.
///
/// @param kind KVM or emulation
/// @param reason one sentence for `doctor`
public record Accelerator(Kind kind, String reason) {

    /// The two that QEMU is started with.
    public enum Kind {
        /// The host's hardware virtualisation.
        KVM,
        /// QEMU's own translation: slower, works anywhere, and the only one that can be replayed exactly.
        TCG
    }
}
