package blackbox.recorder.seal;

import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.Ed25519Verifier;
import blackbox.evidence.trust.EpochKey;
import blackbox.schemas.RunId;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;

/// Forward secure epoch keys (`schemas/trust.md`): at most two exist at a time, in memory alone, this epoch's
/// and the next one's. Whoever takes over the recorder later cannot seal differently what is sealed already.
public final class EphemeralKeys implements EpochKeys {

    private final RunId run;
    private final SecureRandom random;
    private final Ed25519Verifier first;
    private @Nullable Ed25519Key current;
    private @Nullable Ed25519Key next;

    /// Creates the key of epoch 0.
    public EphemeralKeys(RunId run, SecureRandom random) {
        this.run = run;
        this.random = random;
        Ed25519Key key = Ed25519Key.create(run.origin(), random);
        this.first = key.verifier();
        this.current = key;
    }

    /// The key of epoch 0, for the run key certificate.
    public Ed25519Verifier first() {
        return first;
    }

    @Override
    public @Nullable String announce(boolean closes) {
        if (next != null) {
            throw new IllegalStateException("the next epoch's key is announced already");
        }
        if (closes) {
            return null;
        }
        Ed25519Key made = Ed25519Key.create(run.origin(), random);
        next = made;
        return EpochKey.of(made.verifier()).detail();
    }

    @Override
    public String seal(String checkpoint) {
        Ed25519Key key = current;
        if (key == null) {
            throw new IllegalStateException("the last epoch of run " + run + " is sealed");
        }
        String note = SignedNote.sign(checkpoint, key);
        key.destroy();
        current = next;
        next = null;
        return note;
    }

    @Override
    public void close() {
        for (Ed25519Key key : new Ed25519Key[] {current, next}) {
            if (key != null) {
                key.destroy();
            }
        }
        current = null;
        next = null;
    }
}
