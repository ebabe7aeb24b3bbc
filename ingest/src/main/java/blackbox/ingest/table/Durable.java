package blackbox.ingest.table;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// File operations that survive a power cut when they have returned.
final class Durable {

    private Durable() {}

    /// Makes the entries of a folder durable.
    static void forceFolder(Path folder) throws IOException {
        try (FileChannel directory = FileChannel.open(folder, StandardOpenOption.READ)) {
            directory.force(true);
        }
    }

    /// Creates a folder and those above it that are missing.
    static void createFolders(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            Path parent = folder.getParent();
            if (parent != null) {
                createFolders(parent);
            }
            Files.createDirectories(folder);
            if (parent != null) {
                forceFolder(parent);
            }
        }
    }

    /// Writes a new file and forces its contents; its name is durable once its folder was forced.
    static void write(Path file, byte[] octets) throws IOException {
        try (FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer buffer = ByteBuffer.wrap(octets);
            while (buffer.hasRemaining()) {
                out.write(buffer);
            }
            out.force(true);
        }
    }
}
