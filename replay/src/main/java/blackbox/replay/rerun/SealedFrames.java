package blackbox.replay.rerun;

import blackbox.replay.capture.SealedCapture;
import blackbox.replay.cassette.CapturedFrames;
import blackbox.vault.OpenPayload;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/// A capture of frames as far as it is sealed; the caller must have checked it.
final class SealedFrames implements CapturedFrames, AutoCloseable {
    private final SealedCapture capture;
    private final OpenPayload file;

    SealedFrames(SealedCapture capture) throws IOException {
        this.capture = capture;
        this.file = capture.payload().open();
    }

    @Override
    public InputStream open() throws IOException {
        return capture.open();
    }

    @Override
    public byte[] read(long offset, int length) throws IOException {
        if (offset < 0 || offset + length > capture.sealedBytes()) {
            throw new EOFException(capture.payload().file() + " is sealed only up to octet " + capture.sealedBytes());
        }
        ByteBuffer octets = ByteBuffer.allocate(length);
        while (octets.hasRemaining()) {
            if (file.read(octets, offset + octets.position()) < 0) {
                throw new EOFException(capture.payload().file() + " is shorter than it was");
            }
        }
        return octets.array();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
