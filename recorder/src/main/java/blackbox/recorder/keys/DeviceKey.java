package blackbox.recorder.keys;

import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.sign.EcdsaVerifier;
import blackbox.recorder.RecorderException;
import blackbox.schemas.Sha256;
import javax.security.auth.Destroyable;

/// An ECDSA P-256 key that a device holds. The text is hashed here, with this process's provider; the device
/// sees only the digest. Used by one thread at a time.
final class DeviceKey implements NoteSigner, Destroyable {

    private final EcdsaVerifier verifier;
    private final Device device;
    private boolean isClosed;

    /// Signs digests inside a device.
    interface Device {
        /// The DER signature over a SHA-256 digest.
        byte[] sign(byte[] digest) throws RecorderException;
    }

    DeviceKey(EcdsaVerifier verifier, Device device) {
        this.verifier = verifier;
        this.device = device;
    }

    @Override
    public EcdsaVerifier verifier() {
        return verifier;
    }

    /// @throws IllegalStateException when the key was closed or the device refuses
    @Override
    public byte[] sign(byte[] text) {
        if (isClosed) {
            throw new IllegalStateException("this key was closed");
        }
        try {
            return device.sign(Sha256.digest().digest(text));
        } catch (RecorderException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /// Releases the device; the key in it stays.
    @Override
    public void destroy() {
        isClosed = true;
    }

    @Override
    public boolean isDestroyed() {
        return isClosed;
    }
}
