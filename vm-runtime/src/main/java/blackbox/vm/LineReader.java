package blackbox.vm;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Reads lines of bounded length from a peer that may never end one. One thread.
public final class LineReader {
    private final InputStream in;
    private final int lineBytesMax;

    /// The peer sent a line beyond the greatest length.
    public static final class TooLongException extends IOException {
        private static final long serialVersionUID = 1;

        TooLongException(int lineBytesMax) {
            super("a line of more than " + lineBytesMax + " bytes");
        }
    }

    /// @param lineBytesMax length of a line beyond which [#next] throws
    public LineReader(InputStream in, int lineBytesMax) {
        this.in = new BufferedInputStream(in, 8192);
        this.lineBytesMax = lineBytesMax;
    }

    /// The next line without its end, or null at the end of the stream; an unfinished last line is dropped.
    ///
    /// @throws TooLongException when it is longer than it may be
    public @Nullable String next() throws IOException {
        var line = new ByteArrayOutputStream(256);
        for (int octet = in.read(); octet >= 0; octet = in.read()) {
            if (octet == '\n') {
                return line.toString(StandardCharsets.UTF_8);
            }
            if (line.size() >= lineBytesMax) {
                throw new TooLongException(lineBytesMax);
            }
            line.write(octet);
        }
        return null;
    }
}
