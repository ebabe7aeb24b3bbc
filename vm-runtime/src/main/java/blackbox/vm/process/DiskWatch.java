package blackbox.vm.process;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;

/// Ends a machine before it has filled the host's disk: whoever records it still has to seal and store what was
/// recorded, and others use the disk, too.
final class DiskWatch {
    /// Room that is left to the host.
    static final long RESERVE_BYTES = 256L << 20;

    private static final Duration LOOK_EVERY = Duration.ofMillis(500);

    private DiskWatch() {}

    /// Watches the file systems of `files` until `process` has ended; calls `full` once if one of them runs
    /// out.
    static void start(Process process, Collection<Path> files, Runnable full, Runnable killed) throws VmException {
        Set<FileStore> stores = new LinkedHashSet<>();
        for (Path file : files) {
            try {
                stores.add(Files.getFileStore(file));
            } catch (IOException e) {
                throw new VmException(Code.IO, "the room for a VM at " + file + " is not known", e);
            }
        }
        Thread.ofPlatform().daemon().name("disk-watch").start(() -> {
            try {
                while (!process.waitFor(LOOK_EVERY)) {
                    if (isBelow(stores, RESERVE_BYTES)) {
                        full.run();
                        break;
                    }
                }
                while (!process.waitFor(LOOK_EVERY)) {
                    if (isBelow(stores, RESERVE_BYTES / 2)) {
                        killed.run();
                        return;
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private static boolean isBelow(Set<FileStore> stores, long bytes) {
        for (FileStore store : stores) {
            try {
                if (store.getUsableSpace() < bytes) {
                    return true;
                }
            } catch (IOException e) {
                return true; // it has gone
            }
        }
        return false;
    }
}
