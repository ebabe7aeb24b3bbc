package blackbox.vm.qemu;

import blackbox.schemas.folder.DataFolder;
import blackbox.vm.Json;
import blackbox.vm.LineReader;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.confine.Box;
import blackbox.vm.image.GuestImage;
import blackbox.vm.machine.Accelerator;
import blackbox.vm.machine.Accelerator.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Decides between KVM and TCG by booting: even if `/dev/kvm` exists, it may be unable to run a kernel (in a
/// nested VM or one without hardware virtualisation). The answer is cached for this QEMU, host kernel and guest
/// kernel.
public final class AcceleratorProbe {
    private static final Duration BOOT_TIMEOUT = Duration.ofSeconds(8);
    private static final int MEMORY_MIB = 256;
    private static final Path KVM = Path.of("/dev/kvm");
    private static final String BOOTED = "blackbox: probe: booted";
    private static final int LINE_BYTES_MAX = 64 << 10;

    private AcceleratorProbe() {}

    /// The accelerator for `image`; boots it once if that is not known yet.
    public static Accelerator choose(Path data, Qemu qemu, GuestImage image) throws VmException {
        Accelerator plain = withoutKvm();
        if (plain != null) {
            return plain;
        }
        String key = qemu.digest() + " " + hostKernel() + " " + image.sha256(GuestImage.KERNEL);
        Path note = new DataFolder(data).cache().resolve("accelerator.json");
        Known known = Json.cached(note, Known.class);
        if (known != null && known.key().equals(key)) {
            return known.accelerator();
        }
        var accelerator = boot(data, qemu, image);
        Json.write(note, new Known(key, accelerator));
        return accelerator;
    }

    /// The accelerator that is used here for any image; null if a boot must decide.
    public static @Nullable Accelerator withoutKvm() {
        if (Files.isReadable(KVM) && Files.isWritable(KVM)) {
            return null;
        }
        String why = Files.exists(KVM) ? "this user may not open /dev/kvm" : "there is no /dev/kvm";
        return new Accelerator(Kind.TCG, why + ", so the guest is emulated");
    }

    private record Known(String key, Accelerator accelerator) {}

    private static Accelerator boot(Path data, Qemu qemu, GuestImage image) throws VmException {
        var argv = new ArrayList<>(qemu.program());
        argv.addAll(List.of(
                "-nodefaults",
                "-no-user-config",
                "-display",
                "none",
                "-no-reboot",
                "-machine",
                "q35,usb=off,vmport=off,hpet=off,smm=off",
                "-accel",
                "kvm",
                "-cpu",
                "host",
                "-m",
                Integer.toString(MEMORY_MIB),
                "-kernel",
                image.file(GuestImage.KERNEL).toString(),
                "-initrd",
                image.file(GuestImage.INITRD).toString(),
                "-append",
                String.join(" ", image.kernelArguments()) + " blackbox.probe",
                "-serial",
                "stdio"));
        try (var scratch = ScratchFolder.in(new DataFolder(data).cache(), ".probe-")) {
            Box box = Box.in(scratch.path()).memory(MEMORY_MIB).kvm();
            qemu.open(box.readable(image.folder().toAbsolutePath()));
            return boots(box.start(argv, null));
        }
    }

    private static Accelerator boots(Process process) throws VmException {
        try {
            boolean booted = CompletableFuture.supplyAsync(
                            () -> sawBoot(process), task -> Thread.ofPlatform().start(task))
                    .get(BOOT_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            return booted
                    ? new Accelerator(Kind.KVM, "a kernel booted under /dev/kvm")
                    : new Accelerator(
                            Kind.TCG, "QEMU could not start a kernel under /dev/kvm, so the guest is emulated");
        } catch (TimeoutException e) {
            return new Accelerator(
                    Kind.TCG,
                    "a kernel did not boot under /dev/kvm within " + BOOT_TIMEOUT.toSeconds()
                            + " s (a nested machine without vmx or svm?), so the guest is emulated");
        } catch (ExecutionException e) {
            throw new VmException(Code.QEMU_FAILED, "the trial of /dev/kvm failed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "the trial of /dev/kvm was interrupted", e);
        } finally {
            process.destroyForcibly();
        }
    }

    private static boolean sawBoot(Process process) {
        try {
            var lines = new LineReader(process.getInputStream(), LINE_BYTES_MAX);
            for (String line = lines.next(); line != null; line = lines.next()) {
                if (line.contains(BOOTED)) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            return false;
        }
    }

    /// Release of the host's kernel, for cache keys that depend on it.
    public static String hostKernel() throws VmException {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/osrelease")).strip();
        } catch (IOException e) {
            throw new VmException(Code.IO, "the host's kernel release could not be read", e);
        }
    }
}
