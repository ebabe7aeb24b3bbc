package blackbox.node.record;

import blackbox.files.Folders;
import blackbox.recorder.RecorderException;
import blackbox.recorder.capture.CaptureFile;
import blackbox.recorder.guest.EventSink;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.VmException;
import blackbox.vm.machine.Tier;
import blackbox.vm.machine.VirtualMachine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// The files that a recording keeps beside its events, `captures/<run>/`: what is new in each is sealed as it
/// grows.
///
/// @param files each sealed by whoever calls [#sealNew], one thread at a time
/// @param folder where they are
/// @param limits how long they may grow
public record Captures(List<CaptureFile> files, Path folder, CaptureLimits limits) {

    private static final Duration LAST_PATIENCE = Duration.ofSeconds(10);
    private static final long LOOK_AGAIN_MS = 50;

    public Captures {
        files = List.copyOf(files);
    }

    /// Nothing is kept.
    public static Captures none() {
        return new Captures(List.of(), Path.of(""), new CaptureLimits(1, 0));
    }

    /// The run's folder, for its owner alone: a disk holds more than events tell.
    static Path makeFolder(DataFolder data, RunId run) throws IOException {
        Path all = Files.createDirectories(data.captures());
        Path folder = Files.createDirectory(
                all.resolve(run.value()),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Folders.sync(all);
        return folder;
    }

    /// What is kept of `vm` in `folder`.
    static Captures of(VirtualMachine vm, Path folder, CaptureLimits limits) {
        Path blocks = CaptureName.BLOCKS.in(folder);
        // QEMU has several writes to the log under way at once, and they may come to be there in any order.
        var files = new ArrayList<CaptureFile>();
        files.add(new CaptureFile(CaptureName.BLOCKS.text(), blocks, limits.diskLogBytesMax(), () -> settled(vm)));
        addFrames(files, CaptureName.FRAMES_OUT, folder, limits.framesOutBytesMax());
        addFrames(files, CaptureName.FRAMES_IN, folder, limits.framesInBytesMax());
        if (vm.facts().tier() == Tier.EXACT) {
            // Not bounded: without it whole there is no replay.
            for (CaptureName name : CaptureName.EXACT) {
                files.add(new CaptureFile(name.text(), name.in(folder)));
            }
        }
        return new Captures(files, folder, limits);
    }

    private static void addFrames(List<CaptureFile> files, CaptureName name, Path folder, long bytesMax) {
        if (bytesMax > 0) {
            files.add(new CaptureFile(name.text(), name.in(folder), bytesMax, () -> true));
        }
    }

    /// The frames that the VM sends, kept as they are read.
    KeptFrames framesOut(VirtualMachine vm) {
        return new KeptFrames(vm.framesOut(), CaptureName.FRAMES_OUT.in(folder), limits.framesOutBytesMax());
    }

    /// The frames that it is sent, kept as they are read.
    KeptFrames framesIn(VirtualMachine vm) {
        return new KeptFrames(vm.framesIn(), CaptureName.FRAMES_IN.in(folder), limits.framesInBytesMax());
    }

    private static boolean settled(VirtualMachine vm) {
        try {
            vm.settleDisks();
            return true;
        } catch (VmException e) {
            return false; // the host's disk is slow, or the VM is about to end: there is a next time
        }
    }

    /// Seals what is left when every writer has ended. A file may not have settled at the first look: it is looked at
    /// again for a while.
    ///
    /// @return why a file is not sealed to its end, by name; empty when all are
    SortedMap<String, String> sealLast(LongSupplier clock, EventSink sink)
            throws RecorderException, InterruptedException {
        return sealLast(clock, sink, LAST_PATIENCE);
    }

    SortedMap<String, String> sealLast(LongSupplier clock, EventSink sink, Duration patience)
            throws RecorderException, InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        while (true) {
            sealNew(clock, sink);
            var unsealed = new TreeMap<String, String>();
            for (CaptureFile file : files) {
                String why = file.unsealed();
                if (why != null) {
                    unsealed.put(file.name(), why);
                }
            }
            if (unsealed.isEmpty() || System.nanoTime() >= deadline) {
                return unsealed;
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MS);
        }
    }

    /// Seals what is new in every file.
    void sealNew(LongSupplier clock, EventSink sink) throws RecorderException {
        for (CaptureFile file : files) {
            for (Event event : file.sealNew(clock)) {
                sink.accept(event);
            }
        }
    }
}
