package blackbox.node.record;

import blackbox.files.Folders;
import blackbox.recorder.capture.CaptureFile;
import blackbox.recorder.capture.CaptureLimits;
import blackbox.recorder.capture.CapturedFiles;
import blackbox.recorder.capture.KeptOutput;
import blackbox.recorder.feed.SyncedDisk;
import blackbox.recorder.guest.HostClock;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.machine.Machine;
import blackbox.vm.machine.Tier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Which files of a machine a recording keeps beside its events, in `captures/<run>/`.
final class Captures {

    private Captures() {}

    /// The run's folder, readable by its owner alone: a disk holds more than the events show.
    static Path makeFolder(DataFolder data, RunId run) throws IOException {
        Path all = Files.createDirectories(data.captures());
        Path folder = Files.createDirectory(
                all.resolve(run.value()),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Folders.sync(all);
        return folder;
    }

    /// The files of `vm` that are kept in `folder`.
    static CapturedFiles of(Machine vm, HostClock clock, Path folder, CaptureLimits limits) {
        Path blocks = CaptureName.BLOCKS.in(folder);
        // QEMU has several writes to the log in flight at once, and they may complete in any order.
        var files = new ArrayList<CaptureFile>();
        var synced = new SyncedDisk(clock);
        vm.onSynced(synced::reached);
        files.add(new CaptureFile(
                CaptureName.BLOCKS.text(), blocks, limits.diskLogBytesMax(), vm::settleDisks, synced::syncedNs));
        addBounded(files, CaptureName.FRAMES_OUT, folder, limits.framesOutBytesMax());
        addBounded(files, CaptureName.FRAMES_IN, folder, limits.framesInBytesMax());
        addBounded(files, CaptureName.PLAINTEXT, folder, limits.plaintextBytesMax());
        addBounded(files, CaptureName.STDIN, folder, limits.framesBytesMax());
        // It stops by itself at its limit, after a complete line.
        files.add(new CaptureFile(CaptureName.TERMINAL.text(), CaptureName.TERMINAL.in(folder)));
        var output = new KeptOutput(folder, limits.outputBytesMax(), clock::nowNs);
        files.addAll(output.files());
        if (vm.facts().tier() == Tier.EXACT) {
            // Not bounded: without all of it there is no replay.
            for (CaptureName name : CaptureName.EXACT) {
                files.add(new CaptureFile(name.text(), name.in(folder)));
            }
        }
        return new CapturedFiles(files, folder, limits, output);
    }

    private static void addBounded(List<CaptureFile> files, CaptureName name, Path folder, long bytesMax) {
        if (bytesMax > 0) {
            files.add(new CaptureFile(name.text(), name.in(folder), bytesMax, () -> Duration.ZERO));
        }
    }
}
