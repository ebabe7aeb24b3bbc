package blackbox.replay.landing;

import blackbox.evidence.store.Recordings;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.seek.FrameLookup;
import blackbox.replay.seek.Seeker;
import blackbox.replay.seek.Seekers;
import blackbox.replay.tier.ReplayRequest;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A landing in a run of the exact tier.
///
/// @param request one whose inputs were checked
public record ExactLanding(ReplayRequest request) implements Landing {

    @Override
    public Recordings recordings() {
        return request.recordings();
    }

    @Override
    public RunId run() {
        return request.facts().run();
    }

    @Override
    public Seeker seeker(Progress progress) throws ReplayException, IOException {
        return Seekers.open(request, progress);
    }

    @Override
    public Map<String, SealedCapture> captures() {
        return request.inputs().captures();
    }

    @Override
    public FrameLookup at(long index) throws ReplayException, IOException {
        return FrameLookup.at(recordings(), run(), index);
    }

    @Override
    public @Nullable FrameLookup behind(long index, @Nullable Kind kind) throws IOException {
        return FrameLookup.behind(recordings(), run(), index, kind);
    }

    @Override
    public @Nullable Agreement agreement() {
        return null;
    }
}
