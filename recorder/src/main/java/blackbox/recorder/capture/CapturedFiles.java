package blackbox.recorder.capture;

import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.EventSink;
import blackbox.schemas.event.Event;
import blackbox.schemas.folder.CaptureName;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// The files that a recording stores beside its events; each is sealed as it grows.
///
/// @param files each sealed by whoever calls [#sealNew], one thread at a time
/// @param folder where they are
/// @param limits how large they may grow
/// @param output stores what the agent prints, in two of the files
public record CapturedFiles(List<CaptureFile> files, Path folder, CaptureLimits limits, KeptOutput output) {
    private static final Duration LAST_PATIENCE = Duration.ofSeconds(10);
    private static final long LOOK_AGAIN_MS = 50;

    public CapturedFiles {
        files = List.copyOf(files);
    }

    /// Nothing is stored.
    public static CapturedFiles none() {
        return new CapturedFiles(List.of(), Path.of(""), new CaptureLimits(1, 0, 0), KeptOutput.none());
    }

    /// The frames that a machine sends, stored as they are read.
    public KeptStream framesOut(InputStream frames) {
        return new KeptStream(frames, folder.resolve(CaptureName.FRAMES_OUT.text()), limits.framesOutBytesMax());
    }

    /// The frames that it receives, stored as they are read.
    public KeptStream framesIn(InputStream frames) {
        return new KeptStream(frames, folder.resolve(CaptureName.FRAMES_IN.text()), limits.framesInBytesMax());
    }

    /// What the agent is given on its standard input, stored as it is read.
    public KeptStream stdin(InputStream in) {
        return new KeptStream(in, folder.resolve(CaptureName.STDIN.text()), limits.framesBytesMax());
    }

    /// Seals what is left when every writer has ended. A file that is not final yet at the first attempt is
    /// tried again for a while.
    ///
    /// @return why a file is not sealed to its end, by name; empty when all are
    public SortedMap<String, String> sealLast(LongSupplier clock, EventSink sink)
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
    public void sealNew(LongSupplier clock, EventSink sink) throws RecorderException {
        for (CaptureFile file : files) {
            for (Event event : file.sealNew(clock)) {
                sink.accept(event);
            }
        }
    }
}
