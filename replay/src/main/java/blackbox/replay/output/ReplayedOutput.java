package blackbox.replay.output;

import blackbox.recorder.capture.KeptOutput;
import blackbox.recorder.capture.OutputPiece;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.cassette.Miss.Content;
import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// What a replay prints, kept in temporary files of the same form as a recording's until it has been compared.
public final class ReplayedOutput implements AutoCloseable {

    private static final int CHUNK_BYTES = 1 << 16;

    private final ScratchFolder folder;
    private final Map<PrintedStream, MessageDigest> digests = new ConcurrentHashMap<>();
    private KeptOutput kept = KeptOutput.none();

    private ReplayedOutput(ScratchFolder folder) {
        this.folder = folder;
    }

    /// Nothing is kept yet.
    ///
    /// @param cache of the data folder
    public static ReplayedOutput in(Path cache) throws IOException {
        try {
            return new ReplayedOutput(ScratchFolder.ofThisProcess(cache, ".printed-"));
        } catch (VmException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /// Begins to keep.
    ///
    /// @param bytesMax the first octets of each stream that are kept to be compared
    /// @param clock nanoseconds since 1970
    public void keep(long bytesMax, LongSupplier clock) {
        kept = KeptOutput.first(bytesMax, folder.path(), clock);
    }

    /// Where a stream is to be printed. All of it is counted and goes into a digest, kept or not.
    public OutputStream through(PrintedStream stream) {
        MessageDigest digest = digests.computeIfAbsent(stream, _ -> Sha256.digest());
        return kept.through(stream, new DigestOutputStream(OutputStream.nullOutputStream(), digest));
    }

    /// All that was printed on a stream. To be called once.
    public Content all(PrintedStream stream) {
        MessageDigest digest = digests.get(stream);
        byte[] octets = (digest == null ? Sha256.digest() : digest).digest();
        return new Content(Hash.copyOf(octets, 0), kept.printedBytes(stream));
    }

    /// What was printed on a stream. Nothing is kept from now on.
    ///
    /// @throws IOException also when it could not all be kept
    public PieceInput open(PrintedStream stream) throws IOException {
        return open(stream, PieceInput.BEGAN_UNKNOWN);
    }

    /// The same.
    ///
    /// @param beganNs when the first octet may have been printed at the earliest, on the clock that it was kept by
    public PieceInput open(PrintedStream stream, long beganNs) throws IOException {
        kept.close();
        IOException failure = kept.failure(stream);
        if (failure != null) {
            throw new IOException("what the replay printed could not be kept: " + failure.getMessage(), failure);
        }
        Path file = stream.capture().in(folder.path());
        if (!Files.exists(file)) {
            return PieceInput.none();
        }
        InputStream in = Files.newInputStream(file);
        var decoder = new OutputPiece.Decoder(stream);
        return new PieceInput(() -> next(in, decoder), in, beganNs);
    }

    private static @Nullable OutputPiece next(InputStream in, OutputPiece.Decoder decoder) throws IOException {
        OutputPiece piece = decoder.next();
        while (piece == null) {
            byte[] octets = in.readNBytes(CHUNK_BYTES);
            if (octets.length == 0) {
                return null;
            }
            decoder.take(ByteBuffer.wrap(octets));
            piece = decoder.next();
        }
        return piece;
    }

    @Override
    public void close() throws IOException {
        kept.close();
        try {
            folder.close();
        } catch (VmException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}
