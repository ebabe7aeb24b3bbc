package blackbox.cli.record;

import blackbox.cli.data.DataFolder;
import blackbox.recorder.anchor.AnchorLoop;
import blackbox.recorder.anchor.AnchorSettings;
import blackbox.recorder.anchor.Anchoring;
import blackbox.recorder.anchor.Outside;
import blackbox.schemas.CryptoProvider;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Anchors a data folder's log of runs in the background, where there is anyone to ask. Whatever goes wrong
/// with it, nothing else waits for it or fails.
public final class AnchorService implements AutoCloseable {

    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(20);

    private final @Nullable Outside outside;
    private final @Nullable AnchorLoop loop;

    private AnchorService(@Nullable Outside outside, @Nullable AnchorLoop loop) {
        this.outside = outside;
        this.loop = loop;
    }

    /// Starts; does nothing where nobody is to be asked.
    ///
    /// @param says hears when anchoring begins to fail and when it works again
    public static AnchorService start(DataFolder data, AnchorSettings settings, Consumer<String> says) {
        if (settings.isEmpty()) {
            return new AnchorService(null, null);
        }
        var outside = new Outside(ANSWER_TIMEOUT);
        var anchoring = new Anchoring(
                data.log(), settings, outside, CryptoProvider.current().random());
        return new AnchorService(outside, AnchorLoop.start(anchoring, AnchorLoop.Pacing.STANDARD, says));
    }

    @Override
    public void close() {
        if (loop != null) {
            loop.close();
        }
        if (outside != null) {
            outside.close();
        }
    }
}
