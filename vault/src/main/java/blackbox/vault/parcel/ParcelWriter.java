package blackbox.vault.parcel;

import blackbox.schemas.Sha256;
import blackbox.vault.stream.WriteBehindOutput;
import com.github.luben.zstd.ZstdOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.DigestOutputStream;

/// Writes a parcel: the parts in the manifest's order, then [#finish]. Owned by one thread; `out` belongs to
/// another one until it is finished or closed.
public final class ParcelWriter implements AutoCloseable {

    /// The most octets of one block.
    static final int BLOCK_BYTES_MAX = 1 << 20;

    private static final int LEVEL = 3;
    private static final int BUFFER_BYTES = 1 << 18;

    private final ParcelManifest manifest;
    private final DigestOutputStream digested;
    private final WriteBehindOutput behind;
    private final Blocks blocks;
    private final ZstdOutputStream zstd;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int next;

    /// Writes the manifest.
    ///
    /// @param out gets the parcel, and stays open
    /// @param workers how many threads compress in place of the caller's; 0 for none
    public ParcelWriter(OutputStream out, ParcelManifest manifest, int workers) throws IOException {
        this.manifest = manifest;
        this.digested = new DigestOutputStream(out, Sha256.digest());
        byte[] described = manifest.octets();
        if (described.length > ParcelManifest.OCTETS_MAX) {
            throw new IOException("a parcel cannot name that many files");
        }
        digested.write((ParcelManifest.FIRST + "\n").getBytes(StandardCharsets.US_ASCII));
        digested.write(
                ByteBuffer.allocate(Integer.BYTES).putInt(described.length).array());
        digested.write(described);
        this.behind = new WriteBehindOutput(digested, "parcel-write");
        this.blocks = new Blocks(behind);
        this.zstd = compressing(workers);
    }

    private ZstdOutputStream compressing(int workers) throws IOException {
        try {
            var stream = new ZstdOutputStream(blocks, LEVEL);
            stream.setWorkers(workers);
            return stream;
        } catch (IOException | RuntimeException | Error e) {
            try (behind) {
                throw e;
            }
        }
    }

    /// Writes the next part.
    ///
    /// @param in its octets, at least as many as the manifest declares; not closed
    /// @return how many octets of the parcel it took
    /// @throws IOException also when `in` is shorter
    public long put(InputStream in) throws IOException {
        ParcelPart part = manifest.parts().get(next++);
        long before = blocks.written;
        for (long left = part.bytes(); left > 0; ) {
            int count = in.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (count < 0) {
                throw new IOException(part.name() + " ended " + left + " octets early: it was changed meanwhile");
            }
            zstd.write(buffer, 0, count);
            left -= count;
        }
        if (isCounted(part)) {
            zstd.flush();
        }
        return blocks.written - before;
    }

    /// Whether what a part takes is to be known exactly: each flush costs some octets, so files deep in a
    /// folder are counted together.
    private boolean isCounted(ParcelPart part) {
        return next == manifest.parts().size()
                || part.name().indexOf('/') == part.name().lastIndexOf('/')
                || !part.group().equals(manifest.parts().get(next).group());
    }

    /// Writes the end.
    public void finish() throws IOException {
        if (next != manifest.parts().size()) {
            throw new IllegalStateException("only " + next + " of the parts were written");
        }
        zstd.close();
        blocks.end();
        behind.drain();
        byte[] digest = digested.getMessageDigest().digest();
        digested.on(false);
        digested.write(digest);
        digested.flush();
    }

    @Override
    public void close() throws IOException {
        blocks.discarding = true;
        try {
            zstd.close();
        } finally {
            behind.close();
        }
    }

    /// Cuts the compressed stream into blocks with their lengths.
    private static final class Blocks extends OutputStream {
        private final OutputStream out;
        private final ByteBuffer block = ByteBuffer.allocate(BLOCK_BYTES_MAX);
        private long written;
        private boolean discarding;

        Blocks(OutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int octet) throws IOException {
            write(new byte[] {(byte) octet}, 0, 1);
        }

        @Override
        public void write(byte[] octets, int from, int count) throws IOException {
            for (int done = 0; done < count && !discarding; ) {
                int part = Math.min(count - done, block.remaining());
                block.put(octets, from + done, part);
                done += part;
                if (!block.hasRemaining()) {
                    put();
                }
            }
            written += count;
        }

        private void put() throws IOException {
            if (block.position() > 0) {
                out.write(ByteBuffer.allocate(Integer.BYTES)
                        .putInt(block.position())
                        .array());
                out.write(block.array(), 0, block.position());
                block.clear();
            }
        }

        void end() throws IOException {
            put();
            out.write(new byte[Integer.BYTES]);
            discarding = true;
        }
    }
}
