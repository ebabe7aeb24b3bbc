package blackbox.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Files for parsers that read no octets but files: one for each name, written anew for each input.
public final class Scratch {
    private static final Map<String, Path> FILES = new ConcurrentHashMap<>();
    private static final int CHUNK_BYTES = 6;

    private Scratch() {}

    /// The file of this name with these octets.
    public static Path file(String name, byte[] octets) throws IOException {
        Path file = path(name);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            for (ByteBuffer left = ByteBuffer.wrap(octets); left.hasRemaining(); ) {
                channel.write(left);
            }
            channel.truncate(octets.length);
        }
        return file;
    }

    /// An image with changes, so that an input says only what is not as the real tool made it: six octets for each,
    /// where (in words of four, 16 bits) and the word that is there instead.
    public static byte[] patched(byte[] image, byte[] changes) {
        byte[] copy = image.clone();
        ByteBuffer in = ByteBuffer.wrap(changes);
        while (in.remaining() >= CHUNK_BYTES) {
            int at = Short.toUnsignedInt(in.getShort()) * Integer.BYTES % (copy.length - Integer.BYTES);
            in.get(copy, at, Integer.BYTES);
        }
        return copy;
    }

    /// Deletes a folder with all that is in it.
    static void delete(Path folder) throws IOException {
        try (var all = Files.walk(folder)) {
            all.sorted(Comparator.reverseOrder()).forEach(file -> {
                try {
                    Files.delete(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    private static Path path(String name) {
        return FILES.computeIfAbsent(name, _ -> {
            try {
                Path file = Files.createTempFile("fuzz-" + name, "");
                file.toFile().deleteOnExit();
                return file;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }
}
