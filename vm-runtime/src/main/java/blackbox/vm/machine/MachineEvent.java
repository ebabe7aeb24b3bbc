package blackbox.vm.machine;

import org.jspecify.annotations.Nullable;

/// What a machine's hypervisor reports.
///
/// @param name the hypervisor's own name for it
/// @param detail JSON, or null
/// @param halted why it has stopped the guest permanently; null while the guest runs, and if the machine
///     itself reports this to whoever waits for its guest
public record MachineEvent(
        String name, @Nullable String detail, @Nullable String halted) {}
