package blackbox.bench.result;

import blackbox.bench.subject.VmData;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.machine.Accelerator;
import blackbox.vm.qemu.AcceleratorProbe;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/// What a figure was measured on.
///
/// @param cpu as the kernel names it
/// @param cores how many this process may use
/// @param accelerator of VMs: `kvm`, or `tcg` without it
/// @param loadAtStart the kernel's load average over the minute before
public record Machine(String cpu, int cores, String accelerator, double loadAtStart) {
    public static Machine now() throws IOException {
        return new Machine(
                cpuName(),
                Runtime.getRuntime().availableProcessors(),
                acceleratorOfVms(),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    private static String acceleratorOfVms() throws IOException {
        Accelerator plain = AcceleratorProbe.withoutKvm();
        if (plain != null) {
            return plain.kind().name();
        }
        Path tried = new DataFolder(VmData.location()).cache().resolve("accelerator.json");
        return Files.exists(tried)
                ? new ObjectMapper()
                        .readTree(tried.toFile())
                        .path("accelerator")
                        .path("kind")
                        .asText()
                : "untried";
    }

    private static String cpuName() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("unknown");
        }
    }
}
