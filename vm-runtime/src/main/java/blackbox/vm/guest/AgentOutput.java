package blackbox.vm.guest;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// What the agent writes, as it arrives over the stdio port: frames of {u8 stream, 3 zero octets, u32le length,
/// octets}; length 0 ends a stream.
public final class AgentOutput {
    static final int HEADER_BYTES = 8;
    private static final int FRAME_BYTES_MAX = 256 << 10;
    private static final int STDOUT = 1;
    private static final int STDERR = 2;
    private static final int STREAMS = 2;

    private AgentOutput() {}

    /// One of the two streams.
    public enum Stream {
        STDOUT,
        STDERR
    }

    /// Receives what was written.
    public interface Sink {
        void take(Stream stream, byte[] octets) throws IOException;

        /// The stream has ended: there is nothing more on it.
        default void end(Stream stream) throws IOException {}
    }

    /// Reads until both streams have ended, or the frames do.
    ///
    /// @throws IOException when they cannot be read or are malformed
    public static void read(InputStream frames, Sink sink) throws IOException {
        var from = new DataInputStream(frames);
        var header = new byte[HEADER_BYTES];
        int ended = 0;
        while (ended < STREAMS) {
            try {
                from.readFully(header);
            } catch (EOFException _) {
                return;
            }
            int length = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt(4);
            int stream = header[0];
            if (length < 0 || length > FRAME_BYTES_MAX || stream != STDOUT && stream != STDERR) {
                throw new IOException("a frame of stream " + stream + " with " + length + " octets");
            }
            Stream which = stream == STDOUT ? Stream.STDOUT : Stream.STDERR;
            if (length == 0) {
                ended++;
                sink.end(which);
            } else {
                byte[] octets = from.readNBytes(length);
                sink.take(which, octets);
                if (octets.length < length) {
                    return;
                }
            }
        }
    }
}
