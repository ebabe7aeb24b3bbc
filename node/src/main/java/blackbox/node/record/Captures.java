package blackbox.node.record;

import blackbox.node.data.DataFolder;
import blackbox.recorder.capture.CaptureFile;
import blackbox.recorder.capture.CaptureLimits;
import blackbox.recorder.capture.CapturedFiles;
import blackbox.recorder.capture.KeptFrames;
import blackbox.schemas.RunId;
import blackbox.vm.VmException;
import blackbox.vm.machine.Machine;
import blackbox.vm.machine.Tier;
import blackbox.vm.machine.VmRequest;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/// Which files of a machine a recording keeps beside its events, in `captures/<run>/`.
final class Captures {

    /// What a replay of the exact tier is made from and compared with. Not bounded: without it whole there
    /// is none.
    private static final List<String> EXACT =
            List.of(VmRequest.LOG, VmRequest.EVENTS, VmRequest.CONSOLE, VmRequest.STDIO, VmRequest.CONTROL);

    private Captures() {}

    /// The run's folder, for its owner alone: a disk holds more than events tell.
    static Path makeFolder(DataFolder data, RunId run) throws IOException {
        Path all = Files.createDirectories(data.captures());
        Path folder = Files.createDirectory(
                all.resolve(run.value()),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        try (FileChannel directory = FileChannel.open(all, StandardOpenOption.READ)) {
            directory.force(true);
        }
        return folder;
    }

    /// What is kept of `vm` in `folder`.
    static CapturedFiles of(Machine vm, Path folder, CaptureLimits limits) {
        Path blocks = folder.resolve(VmRequest.BLOCKS);
        // QEMU has several writes to the log under way at once, and they may come to be there in any order.
        var files = new ArrayList<CaptureFile>();
        files.add(new CaptureFile(VmRequest.BLOCKS, blocks, limits.diskLogBytesMax(), () -> settled(vm)));
        addFrames(files, folder.resolve(KeptFrames.OUT), limits.framesOutBytesMax());
        addFrames(files, folder.resolve(KeptFrames.IN), limits.framesInBytesMax());
        if (vm.facts().tier() == Tier.EXACT) {
            for (String name : EXACT) {
                files.add(new CaptureFile(name, folder.resolve(name)));
            }
        }
        return new CapturedFiles(files, folder, limits);
    }

    private static void addFrames(List<CaptureFile> files, Path path, long bytesMax) {
        if (bytesMax > 0) {
            files.add(new CaptureFile(path.getFileName().toString(), path, bytesMax, () -> true));
        }
    }

    private static boolean settled(Machine vm) {
        try {
            vm.settleDisks();
            return true;
        } catch (VmException e) {
            return false; // the host's disk is slow, or the VM is about to end: there is a next time
        }
    }
}
