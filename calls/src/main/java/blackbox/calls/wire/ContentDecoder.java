package blackbox.calls.wire;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Undoes the content coding of a body (RFC 9110, section 8.4) as it comes in. Never throws for what the octets are.
public abstract sealed class ContentDecoder implements AutoCloseable permits Identity, Inflated, Zstandard {
    /// Decoded octets of one body that are read; what is beyond is not. A small body can be decoded to any size.
    public static final long DECODED_BYTES_MAX = 1L << 29;

    private final Octets out;
    private long decoded;
    private @Nullable String failure;

    ContentDecoder(Octets out) {
        this.out = out;
    }

    /// A decoder for the value of `Content-Encoding`, or null if it is not one that is known here: `gzip`, `deflate`
    /// and `zstd` are, one of them at a time.
    public static @Nullable ContentDecoder of(@Nullable String coding, Octets out) {
        String name = coding == null ? "" : coding.strip().toLowerCase(Locale.ROOT);
        return switch (name) {
            case "", "identity" -> new Identity(out);
            case "gzip", "x-gzip" -> Inflated.gzip(out);
            case "deflate" -> Inflated.zlib(out);
            case "zstd" -> new Zstandard(out);
            default -> null;
        };
    }

    /// More of the body.
    public final void feed(byte[] octets, int from, int to) {
        if (failure == null && from < to) {
            decode(octets, from, to);
        }
    }

    /// There is no more of the body.
    public final void end() {
        if (failure == null && !whole()) {
            fail("its compressed data breaks off");
        }
    }

    /// Why the rest was not read; null if nothing is wrong so far.
    public final @Nullable String failure() {
        return failure;
    }

    /// Frees what is not on the heap. May be called again.
    @Override
    public void close() {}

    abstract void decode(byte[] octets, int from, int to);

    /// Whether the octets so far are the whole of a body.
    abstract boolean whole();

    final void give(byte[] octets, int from, int to) {
        int room = (int) Math.min(to - from, DECODED_BYTES_MAX - decoded);
        decoded += room;
        out.take(octets, from, from + room);
        if (room < to - from) {
            fail("it is longer than " + DECODED_BYTES_MAX + " octets");
        }
    }

    final void fail(String why) {
        failure = why;
    }

    final boolean failed() {
        return failure != null;
    }
}
