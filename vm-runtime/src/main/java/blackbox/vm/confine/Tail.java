package blackbox.vm.confine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/// The end of a text that a confined process wrote, however long it has made it.
public final class Tail {

    private Tail() {}

    /// The lines of the last octets, without empty ones.
    ///
    /// @param octets how many are read at most
    public static List<String> lines(Path file, int octets) throws IOException {
        try (var channel = FileChannel.open(file, StandardOpenOption.READ)) {
            var end = ByteBuffer.allocate(octets);
            long from = Math.max(0, channel.size() - octets);
            int read;
            do {
                read = channel.read(end, from + end.position());
            } while (read > 0);
            return new String(end.array(), 0, end.position(), StandardCharsets.ISO_8859_1)
                    .lines()
                    .filter(line -> !line.isBlank())
                    .toList();
        }
    }

    /// The last line, in printable characters.
    public static String lastLine(Path file, int octets) throws IOException {
        List<String> lines = lines(file, octets);
        return lines.isEmpty() ? "nothing" : lines.getLast().replaceAll("\\p{Cntrl}", "?");
    }
}
