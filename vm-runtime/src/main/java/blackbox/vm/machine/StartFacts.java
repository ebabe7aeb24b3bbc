package blackbox.vm.machine;

import blackbox.schemas.Hash;
import blackbox.vm.machine.GuestMessage.Ready;
import blackbox.vm.machine.VmRequest.Start;
import blackbox.vm.workspace.WorkspaceDisk.Archive;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// How a machine was started: the VM's part of a run's first leaf.
///
/// @param imageName name of the image in the store
/// @param imageDigest over kernel, initrd and root
/// @param snapshotDigest over RAM, devices and state disk; null after a cold start
/// @param hypervisor that runs it
/// @param accelerator and why
/// @param confinement what the hypervisor was confined with, name and version, or `none`
/// @param tier how faithfully it can be replayed
/// @param argv the hypervisor's complete command line; its paths are relative to the machine's folder and the
///     same in every run
/// @param size memory and processors
/// @param start restored or cold
/// @param took from the launch of the hypervisor to the guest's first answer
/// @param ready the guest's message before any agent could start; from before the snapshot if restored
/// @param workspace the archive that was copied in
/// @param clock the guest's clocks compared to the host's, right after the start
public record StartFacts(
        String imageName,
        Hash imageDigest,
        @Nullable Hash snapshotDigest,
        Hypervisor hypervisor,
        Accelerator accelerator,
        String confinement,
        Tier tier,
        List<String> argv,
        MachineSize size,
        Start start,
        Duration took,
        Ready ready,
        Archive workspace,
        ClockReading clock) {

    /// The program that runs a machine.
    ///
    /// @param version as it reports it
    /// @param sha256 of its binary
    public record Hypervisor(String version, Hash sha256) {}
}
