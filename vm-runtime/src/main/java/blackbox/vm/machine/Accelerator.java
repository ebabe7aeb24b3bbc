package blackbox.vm.machine;

/// What executes the guest's instructions, and why.
///
/// @param kind KVM or emulation
/// @param reason one sentence for `doctor`
public record Accelerator(Kind kind, String reason) {

    /// The kinds of acceleration.
    public enum Kind {
        /// The host's hardware virtualisation.
        KVM,
        /// QEMU's own translation: slower, works anywhere, and the only one that can be replayed exactly.
        TCG
    }
}
