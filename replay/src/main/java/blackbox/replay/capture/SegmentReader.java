package blackbox.replay.capture;

import blackbox.replay.ReplayException;
import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import blackbox.vault.OpenPayload;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/// Reads a captured file segment by segment, and gives none of which not every octet is what was sealed. The
/// file may still be growing, or be encrypted meanwhile. Memory: one segment. Owned by one thread.
public final class SegmentReader implements Closeable {

    /// What a recorder seals at once is at most this long; see `schemas/capture.md`.
    private static final long BYTES_MAX = 8 << 20;

    private final Payload payload;
    private @Nullable OpenPayload open;

    public SegmentReader(Payload payload) {
        this.payload = payload;
    }

    /// The octets of a segment.
    ///
    /// @throws ReplayException `MISSING` when the file is not here or too short, `ALTERED` when an octet is not
    ///     what was sealed
    public ByteBuffer read(CaptureSegment segment) throws ReplayException {
        if (segment.to() - segment.from() > BYTES_MAX) {
            throw new ReplayException(
                    ReplayException.Code.ALTERED,
                    "event " + segment.index() + " seals octets " + segment.from() + " to " + segment.to() + " of "
                            + payload.name() + " at once, which no recorder does");
        }
        var octets = ByteBuffer.allocate((int) (segment.to() - segment.from()));
        try {
            OpenPayload from = open == null ? payload.open() : open;
            open = from;
            while (octets.hasRemaining()) {
                if (from.read(octets, segment.from() + octets.position()) < 0) {
                    throw payload.truncated(segment.from(), segment.to());
                }
            }
        } catch (IOException e) {
            throw payload.failure(e);
        }
        MessageDigest digest = Sha256.digest();
        digest.update(octets.flip());
        if (!Hash.copyOf(digest.digest(), 0).equals(segment.sha256())) {
            throw payload.altered(segment);
        }
        return octets.flip();
    }

    @Override
    public void close() throws IOException {
        OpenPayload from = open;
        if (from != null) {
            open = null;
            from.close();
        }
    }
}
