package blackbox.recorder.seal;

import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.SignedNote;
import org.jspecify.annotations.Nullable;

/// The keys that seal a run, one epoch after the other; an epoch is one batch. Owned by the run's writer.
///
/// For each epoch [#announce] is called once and then [#seal] once.
public interface EpochKeys extends AutoCloseable {

    /// Creates the next epoch's key.
    ///
    /// @param closes whether this epoch is the run's last: then there is no next key
    /// @return what the heartbeat's detail says about it, or null for nothing
    @Nullable
    String announce(boolean closes);

    /// The note over `checkpoint` by this epoch's key, which is destroyed before this returns.
    ///
    /// @throws IllegalStateException when the run's last epoch was sealed already
    String seal(String checkpoint);

    /// Destroys the remaining keys.
    @Override
    void close();

    /// One key for every epoch, which is not destroyed: whoever has it can rewrite the run's past. For
    /// recordings whose keys are exposed anyway, those of benchmarks and tests; verifiers must trust the key
    /// directly.
    static EpochKeys always(NoteSigner signer) {
        return new EpochKeys() {
            @Override
            public @Nullable String announce(boolean closes) {
                return null;
            }

            @Override
            public String seal(String checkpoint) {
                return SignedNote.sign(checkpoint, signer);
            }

            @Override
            public void close() {}
        };
    }
}
