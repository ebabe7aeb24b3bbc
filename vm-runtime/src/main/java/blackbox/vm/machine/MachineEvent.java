package blackbox.vm.machine;

import org.jspecify.annotations.Nullable;

/// What a machine's hypervisor reports.
///
/// @param name the hypervisor's
/// @param detail JSON, or null
/// @param halted why it has stopped the guest, which nothing will wake again; null while it goes on, and
/// where the machine itself says so to whoever waits for its guest
public record MachineEvent(
        String name, @Nullable String detail, @Nullable String halted) {}
