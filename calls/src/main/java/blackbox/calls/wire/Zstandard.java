package blackbox.calls.wire;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/// `zstd` (RFC 8878), with windows of at most 8 MiB as RFC 9659 has it for content codings.
final class Zstandard extends ContentDecoder {
    private static final int WINDOW_LOG_MAX = 23;

    /// What has come in and is not decoded yet. It is at its end whenever there is nothing more for now.
    private static final class Source extends InputStream {
        private byte[] octets = {};
        private int at;
        private int to;

        void set(byte[] source, int from, int end) {
            octets = source;
            at = from;
            to = end;
        }

        @Override
        public int available() {
            return to - at;
        }

        @Override
        public int read() {
            return at < to ? octets[at++] & 0xff : -1;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            if (at == to) {
                return -1;
            }
            int count = Math.min(length, to - at);
            System.arraycopy(octets, at, target, offset, count);
            at += count;
            return count;
        }
    }

    private final Source source = new Source();
    private final ZstdInputStreamNoFinalizer stream;
    private final byte[] decompressed = new byte[8192];

    Zstandard(Octets out) {
        super(out);
        try {
            stream = new ZstdInputStreamNoFinalizer(source);
            stream.setContinuous(true).setLongMax(WINDOW_LOG_MAX);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // nothing was read yet
        }
    }

    @Override
    void decode(byte[] octets, int from, int to) {
        source.set(octets, from, to);
        try {
            for (int count = stream.read(decompressed); count >= 0; count = stream.read(decompressed)) {
                give(decompressed, 0, count);
                if (failed()) {
                    return;
                }
            }
        } catch (IOException e) {
            fail("its compressed data is not valid");
        }
    }

    /// A stream that need not be continued refuses to end within a frame.
    @Override
    boolean whole() {
        source.set(decompressed, 0, 0);
        stream.setContinuous(false);
        try {
            return stream.read(decompressed) < 0;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        try {
            stream.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // there is nothing behind it
        }
    }
}
