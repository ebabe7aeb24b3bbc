package blackbox.replay.disk;

import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.disk.BlockLog.Applied;
import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.workspace.WorkspaceDisk;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/// Makes a state disk from its base and a log of writes: a raw, sparse image whose journal has been replayed,
/// as a kernel would do after the machine was switched off at that moment.
final class DiskImage {
    private static final Duration TOOL_TIMEOUT = Duration.ofMinutes(5);

    private DiskImage() {}

    /// Writes the image to `target`, which must not exist.
    ///
    /// @param base a qcow2 image without a backing file
    /// @param log checked up to `logBytes`
    static Applied make(Path base, SealedCapture log, long logBytes, Path target) throws ReplayException {
        try {
            Command.of("qemu-img", "convert", "-f", "qcow2", "-O", "raw", base.toString(), target.toString())
                    .within(TOOL_TIMEOUT)
                    .run();
            Applied applied;
            try (FileChannel disk = FileChannel.open(target, StandardOpenOption.WRITE);
                    InputStream writes = log.open(logBytes)) {
                if (disk.size() != WorkspaceDisk.LENGTH_BYTES) {
                    throw new ReplayException(Code.ALTERED, base + " is not a state disk: " + disk.size() + " octets");
                }
                applied = BlockLog.apply(writes, logBytes, disk, disk.size());
            }
            // On our own copy, and only the journal: e2fsck is built to cope with arbitrary images.
            Command.of("e2fsck", "-E", "journal_only", "-y", target.toString())
                    .within(TOOL_TIMEOUT)
                    .run();
            return applied;
        } catch (BlockLog.MalformedLogException e) {
            throw new ReplayException(Code.ALTERED, String.valueOf(e.getMessage()), e);
        } catch (IOException | VmException e) {
            throw new ReplayException(Code.ENGINE, "the disk could not be assembled: " + e.getMessage(), e);
        }
    }
}
