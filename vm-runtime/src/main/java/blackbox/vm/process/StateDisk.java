package blackbox.vm.process;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;

/// The form of the writable disk in a machine's folder.
public enum StateDisk {
    /// All of it is in one file, as in a machine that booted its kernel.
    RAW("driver=raw,file.driver=file,file.filename=" + QemuArguments.STATE),
    /// What was written since the snapshot, over the snapshot's.
    OVERLAY("driver=qcow2,file.driver=file,file.filename=" + QemuArguments.STATE
            + ",backing.driver=qcow2,backing.file.driver=file,backing.file.filename=" + QemuArguments.SNAPSHOT + "/"
            + QemuArguments.BASE_STATE);

    private static final Duration COPY_TIMEOUT = Duration.ofMinutes(30);

    /// For QEMU's tools: every layer with its format, so that none is guessed from what a guest wrote.
    private final String layers;

    StateDisk(String layers) {
        this.layers = layers;
    }

    /// Writes the disk of a machine that has ended to `target`, a new raw image with holes that only this user can
    /// read.
    public void copy(MachineFolder folder, Path target) throws VmException {
        Path image = target.toAbsolutePath();
        try {
            Files.createFile(image, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (IOException e) {
            throw new VmException(Code.IO, image + " could not be made for a copy of the VM's disk", e);
        }
        try {
            Command.of("qemu-img", "convert", "--image-opts", "-O", "raw", layers, image.toString())
                    .in(folder.path())
                    .within(COPY_TIMEOUT)
                    .run();
        } catch (VmException e) {
            delete(image, e);
            throw new VmException(e.code(), "the VM's disk could not be copied: " + e.getMessage(), e);
        }
    }

    private static void delete(Path image, VmException because) {
        try {
            Files.deleteIfExists(image);
        } catch (IOException e) {
            because.addSuppressed(e);
        }
    }
}
