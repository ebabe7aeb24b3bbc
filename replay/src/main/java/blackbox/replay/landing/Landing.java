package blackbox.replay.landing;

import blackbox.evidence.store.Recordings;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.seek.FrameLookup;
import blackbox.replay.seek.Seeker;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The events of a run, and an exact recording in which they happen. One thread.
public interface Landing {

    Recordings recordings();

    /// The run whose events it is about.
    RunId run();

    /// Brings the exact recording to a frame.
    ///
    /// @throws ReplayException `BAD_INPUT` for a recording that does not record where its frames are emitted
    Seeker seeker(Progress progress) throws ReplayException, IOException;

    /// What was captured of the exact recording, by name.
    Map<String, SealedCapture> captures();

    /// The last event at or before `index` that has a frame; the first one that has if there is none.
    ///
    /// @throws ReplayException `BAD_INPUT` when the run has none; `PARTED` when the recording lacks that event
    FrameLookup at(long index) throws ReplayException, IOException;

    /// The next event after `index` that can be landed at, of `kind` if one is given; null if there is none.
    @Nullable
    FrameLookup behind(long index, @Nullable Kind kind) throws ReplayException, IOException;

    /// How far it agrees with the run, null if it is the run's own recording.
    @Nullable
    Agreement agreement();

    /// How far a re-execution agrees with its run.
    ///
    /// @param agreed how many events agree
    /// @param events how many the run has
    record Agreement(long agreed, long events) {}
}
