package blackbox.recorder.keys;

import blackbox.evidence.log.NoteSigner;
import java.time.Instant;
import java.util.List;
import javax.security.auth.DestroyFailedException;
import javax.security.auth.Destroyable;
import org.jspecify.annotations.Nullable;

/// The long-term key of a data folder, opened to sign: one key for people, one or more signature lines on a
/// note (a file key adds an ML-DSA line to the classical one). Used by one thread at a time.
///
/// [#close] destroys private keys held in memory and releases devices.
public final class LogKey implements AutoCloseable {

    private final LogKeyConf conf;
    private final List<NoteSigner> signers;
    private final AutoCloseable device;

    LogKey(LogKeyConf conf, List<? extends NoteSigner> signers, AutoCloseable device) {
        this.conf = conf;
        this.signers = List.copyOf(signers);
        this.device = device;
    }

    /// The name of the log of runs, which is the key's name: the first line of its checkpoints.
    public String origin() {
        return conf.origin();
    }

    /// Where the private key is stored.
    public StoreKind kind() {
        return conf.store();
    }

    /// What signs each note, the classical key first.
    public List<NoteSigner> signers() {
        return signers;
    }

    /// The key that statements are about and whose line every verifier understands.
    public NoteSigner first() {
        return signers.getFirst();
    }

    public Instant validFrom() {
        return conf.validFrom();
    }

    /// Exclusive; null for no end.
    public @Nullable Instant validUntil() {
        return conf.validUntil();
    }

    /// What is written about it in `keys/log.conf`.
    public LogKeyConf conf() {
        return conf;
    }

    @Override
    public void close() {
        for (NoteSigner signer : signers) {
            if (signer instanceof Destroyable held) {
                destroy(held);
            }
        }
        try {
            device.close();
        } catch (Exception _) {
            // The device is released either way, and nothing was written to it.
        }
    }

    private static void destroy(Destroyable held) {
        try {
            held.destroy();
        } catch (DestroyFailedException e) {
            throw new IllegalStateException("a key of ours can always be destroyed", e);
        }
    }
}
