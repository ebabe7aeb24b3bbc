package blackbox.node.record;

import blackbox.evidence.sign.CryptoProvider;
import blackbox.recorder.RecorderException;
import blackbox.recorder.anchor.AnchorLoop;
import blackbox.recorder.anchor.AnchorSettings;
import blackbox.recorder.anchor.Anchoring;
import blackbox.recorder.outbound.HttpPoster;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.DataFolder;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Anchors a data folder's log of runs in the background, if there is anyone to ask. Whatever goes wrong
/// here, nothing else waits for it or fails because of it.
public final class AnchorService implements AutoCloseable {

    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(20);

    private final @Nullable HttpPoster client;
    private final @Nullable AnchorLoop loop;

    private AnchorService(@Nullable HttpPoster client, @Nullable AnchorLoop loop) {
        this.client = client;
        this.loop = loop;
    }

    /// Starts; does nothing if there is nobody to ask.
    ///
    /// @param progress is told when anchoring begins to fail and when it works again
    public static AnchorService start(DataFolder data, AnchorSettings settings, Progress progress) {
        return start(data, settings, AnchorLoop.Pacing.STANDARD, progress);
    }

    private static AnchorService start(
            DataFolder data, AnchorSettings settings, AnchorLoop.Pacing pacing, Progress progress) {
        if (settings.isEmpty()) {
            return new AnchorService(null, null);
        }
        var client = new HttpPoster(ANSWER_TIMEOUT);
        var anchoring = new Anchoring(
                data.log(), settings, client, CryptoProvider.current().random());
        return new AnchorService(client, AnchorLoop.start(anchoring, pacing, progress));
    }

    /// Anchors once, for a run that has ended: whoever does not answer in time is asked again by the next
    /// `serve`, `anchor` or `record`.
    public static AnchorService once(DataFolder data, Progress progress) {
        try {
            AnchorSettings settings = AnchorSettings.read(data, List.of());
            return start(data, settings, AnchorLoop.Pacing.ONCE, progress);
        } catch (RecorderException e) {
            progress.say("the log of runs is not anchored: " + e.getMessage());
            return new AnchorService(null, null);
        }
    }

    /// Waits until everyone has been asked once, for at most `timeout`; returns at once if there is nobody to ask.
    public void awaitFirst(Duration timeout) throws InterruptedException {
        if (loop != null) {
            loop.awaitFirst(timeout);
        }
    }

    @Override
    public void close() {
        if (loop != null) {
            loop.close();
        }
        if (client != null) {
            client.close();
        }
    }
}
