package blackbox.recorder.runlog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// [LogFiles] on the disk.
final class DiskFiles implements LogFiles {

    @Override
    public byte @Nullable [] read(Path file) throws IOException {
        try {
            return Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    @Override
    public boolean exists(Path file) {
        return Files.exists(file);
    }

    @Override
    public void createFolders(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            return;
        }
        Path parent = folder.toAbsolutePath().getParent();
        if (parent != null) {
            createFolders(parent);
            try {
                Files.createDirectory(folder);
            } catch (FileAlreadyExistsException _) {
                // Another process has just made it.
            }
            sync(parent);
        }
    }

    @Override
    public void write(Path file, byte[] octets) throws IOException {
        try (FileChannel out = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            ByteBuffer buffer = ByteBuffer.wrap(octets);
            while (buffer.hasRemaining()) {
                out.write(buffer);
            }
            out.force(true);
        }
    }

    @Override
    public void rename(Path file, Path target) throws IOException {
        Files.move(file, target, StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public void sync(Path folder) throws IOException {
        try (FileChannel directory = FileChannel.open(folder, StandardOpenOption.READ)) {
            directory.force(true);
        }
    }

    @Override
    public void deleteFolder(Path folder) throws IOException {
        List<Path> entries;
        try (Stream<Path> files = Files.list(folder)) {
            entries = files.toList();
        } catch (NoSuchFileException e) {
            return;
        }
        for (Path entry : entries) {
            Files.deleteIfExists(entry);
        }
        Files.deleteIfExists(folder);
    }
}
