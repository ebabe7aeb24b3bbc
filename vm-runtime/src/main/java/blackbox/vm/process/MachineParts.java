package blackbox.vm.process;

import blackbox.schemas.Hash;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.GuestImage;
import blackbox.vm.machine.Accelerator;
import blackbox.vm.machine.Accelerator.Kind;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.Tier;
import blackbox.vm.process.QemuArguments.BlockLog;
import blackbox.vm.qemu.AcceleratorProbe;
import blackbox.vm.qemu.Qemu;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// The parts of a machine, and so of a warm snapshot.
///
/// @param instructionShift nanoseconds of the guest's time that an instruction takes, as a power of two;
///     meaningless in the live tier
/// @param ramReadOnly whether QEMU opens a snapshot's RAM only for reading, which not every version can
public record MachineParts(
        Qemu qemu,
        GuestImage image,
        Accelerator accelerator,
        MachineSize size,
        Tier tier,
        int instructionShift,
        boolean ramReadOnly) {

    /// The key of these parts' snapshot: it covers everything that the snapshot depends on.
    public Hash key() throws VmException {
        // Snapshots of the exact tier have been made differently since decision 0086.
        var text = new StringBuilder("blackbox-snapshot-key-" + (tier == Tier.EXACT ? "v2\n" : "v1\n"));
        text.append(image.digest()).append('\n');
        text.append(qemu.digest()).append(' ').append(qemu.version()).append('\n');
        text.append(QemuArguments.restored(this, Network.NONE, BlockLog.KEPT)).append('\n');
        if (accelerator.kind() == Kind.KVM) {
            text.append(AcceleratorProbe.hostKernel()).append('\n').append(hostProcessor());
        }
        return Hash.sha256(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    /// The parts of a machine of the exact tier, which counts instructions and so is always emulated.
    public static MachineParts exact(
            Qemu qemu, GuestImage image, MachineSize size, int instructionShift, boolean ramReadOnly) {
        var emulated = new Accelerator(Kind.TCG, "the exact tier counts instructions, which only emulation does");
        return new MachineParts(qemu, image, emulated, size, Tier.EXACT, instructionShift, ramReadOnly);
    }

    private static String hostProcessor() throws VmException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name") || line.startsWith("flags"))
                    .limit(2)
                    .reduce("", String::concat);
        } catch (IOException e) {
            throw new VmException(Code.IO, "the host's processor could not be identified", e);
        }
    }
}
