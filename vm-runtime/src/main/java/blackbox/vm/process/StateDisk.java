package blackbox.vm.process;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.confine.Box;
import blackbox.vm.confine.ConfinedTool;
import blackbox.vm.workspace.WorkspaceDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;

/// The form of the writable disk in a machine's folder.
public enum StateDisk {
    /// All of it is in one file, as in a machine that booted its kernel.
    RAW("driver=raw,file.driver=file,file.filename=" + QemuArguments.STATE),
    /// What was written since the snapshot, over the snapshot's.
    OVERLAY("driver=qcow2,file.driver=file,file.filename=" + QemuArguments.STATE
            + ",backing.driver=qcow2,backing.file.driver=file,backing.file.filename=" + QemuArguments.SNAPSHOT + "/"
            + QemuArguments.BASE_STATE);

    private static final String ERRORS = "qemu-img.log";
    private static final Duration COPY_TIMEOUT = Duration.ofMinutes(30);

    /// For QEMU's tools: every layer with its format, so that none is guessed from what a guest wrote.
    private final String layers;

    StateDisk(String layers) {
        this.layers = layers;
    }

    /// Writes the disk of a machine that has ended to `target`, a new raw image with holes that only this user
    /// can read.
    public void copy(MachineFolder folder, Path target) throws VmException {
        Path image = target.toAbsolutePath();
        try {
            Files.createFile(image, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (IOException e) {
            throw new VmException(Code.IO, image + " could not be made for a copy of the VM's disk", e);
        }
        try {
            // What is read may have been written by a QEMU that its guest had taken over: its header could name any
            // file of this host's.
            Box box = MachineBox.afterwards(folder)
                    .longestFile(WorkspaceDisk.LENGTH_BYTES)
                    .writable(image);
            var argv = List.of("qemu-img", "convert", "--image-opts", "-O", "raw", layers, image.toString());
            ConfinedTool.run(box, argv, folder.file(ERRORS), COPY_TIMEOUT);
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
