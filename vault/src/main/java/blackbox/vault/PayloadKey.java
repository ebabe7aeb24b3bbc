package blackbox.vault;

import java.io.IOException;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.security.auth.Destroyable;

/// A key of 32 octets: a run's, or the data folder's, which wraps those of the runs. Never printed. Who has
/// obtained one for a single use destroys it after that.
public final class PayloadKey implements Destroyable {

    /// Its length in octets.
    public static final int BYTES = 32;

    private final byte[] octets;
    private volatile boolean destroyed;

    private PayloadKey(byte[] octets) {
        this.octets = octets;
    }

    /// A new key.
    public static PayloadKey create(SecureRandom random) {
        var octets = new byte[BYTES];
        random.nextBytes(octets);
        return new PayloadKey(octets);
    }

    /// The key with these octets, which are copied.
    public static PayloadKey of(byte[] octets) {
        if (octets.length != BYTES) {
            throw new IllegalArgumentException("a payload key has " + BYTES + " octets, not " + octets.length);
        }
        return new PayloadKey(octets.clone());
    }

    /// A copy of its octets, which the caller clears.
    ///
    /// @throws IllegalStateException when it was destroyed
    public byte[] octets() {
        if (destroyed) {
            throw new IllegalStateException("this key was destroyed");
        }
        return octets.clone();
    }

    /// Zeroes its octets.
    @Override
    public void destroy() {
        destroyed = true;
        Arrays.fill(octets, (byte) 0);
    }

    @Override
    public boolean isDestroyed() {
        return destroyed;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PayloadKey key && Arrays.equals(octets, key.octets);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(octets);
    }

    @Override
    public String toString() {
        return "a payload key";
    }

    /// Where the data folder's key comes from.
    public interface Source {

        /// The key that is there.
        ///
        /// @throws VaultException `NO_KEY` when there is none
        /// @throws IOException when it cannot be opened
        PayloadKey existing() throws IOException;

        /// The same, but one is made if there is none.
        PayloadKey existingOrNew() throws IOException;
    }
}
