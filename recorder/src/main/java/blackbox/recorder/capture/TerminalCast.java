package blackbox.recorder.capture;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// What a terminal showed, stored as it came: asciicast version 2, a line of JSON for the terminal and one for each
/// output and each change of its size, with the seconds since the beginning. What was typed is not in it.
///
/// Output that is not UTF-8 is shown with U+FFFD. Storing stops at its limit or when the file cannot be written, and
/// [#cut] tells why. Any thread may call it.
public final class TerminalCast implements Closeable {

    private final OutputStream file;
    private final LongSupplier nanoTime;
    private final long beganNs;
    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);
    private ByteBuffer rest = ByteBuffer.allocate(0);
    private long left;
    private @Nullable String cut;

    /// Creates the file, readable by its owner alone.
    ///
    /// @param bytesMax its greatest length
    /// @param startedAt seconds since 1970
    /// @param nanoTime as [System#nanoTime]
    public TerminalCast(
            Path path, long bytesMax, int columns, int rows, String type, long startedAt, LongSupplier nanoTime)
            throws IOException {
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        file = Channels.newOutputStream(
                FileChannel.open(path, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), mode));
        left = bytesMax;
        this.nanoTime = nanoTime;
        beganNs = nanoTime.getAsLong();
        write("{\"version\":2,\"width\":" + columns + ",\"height\":" + rows + ",\"timestamp\":" + startedAt
                + ",\"env\":{\"TERM\":" + quoted(type) + "}}\n");
    }

    /// Takes what the terminal is given to show.
    public synchronized void output(byte[] octets) {
        ByteBuffer in = ByteBuffer.allocate(rest.remaining() + octets.length)
                .put(rest)
                .put(octets)
                .flip();
        CharBuffer text = CharBuffer.allocate(in.remaining() + 1);
        decoder.decode(in, text, false);
        rest = in.slice(); // a character whose last octets are still to come
        event("o", text.flip().toString());
    }

    /// Takes a change of its size.
    public synchronized void resized(int columns, int rows) {
        event("r", columns + "x" + rows);
    }

    /// Why not everything is stored, or null if it is.
    public synchronized @Nullable String cut() {
        return cut;
    }

    private void event(String kind, String data) {
        if (!data.isEmpty()) {
            double seconds = (nanoTime.getAsLong() - beganNs) / 1e9;
            write("[" + String.format(Locale.ROOT, "%.6f", seconds) + ",\"" + kind + "\"," + quoted(data) + "]\n");
        }
    }

    private static String quoted(String text) {
        return "\"" + new String(JsonStringEncoder.getInstance().quoteAsString(text)) + "\"";
    }

    /// Whole lines only: a file that has reached its limit still plays.
    private void write(String line) {
        byte[] octets = line.getBytes(StandardCharsets.UTF_8);
        if (cut == null && left < octets.length) {
            cut = "its limit was reached";
        }
        if (cut != null) {
            return;
        }
        left -= octets.length;
        try {
            file.write(octets);
        } catch (IOException e) {
            cut = "it could not be written: " + e.getMessage();
        }
    }

    @Override
    public synchronized void close() throws IOException {
        event("o", rest.hasRemaining() ? "\ufffd" : "");
        file.close();
    }
}
