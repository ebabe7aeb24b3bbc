package blackbox.recorder.runlog;

import blackbox.files.AtomicFiles;
import blackbox.files.Folders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
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
        Folders.create(folder);
    }

    @Override
    public void write(Path file, byte[] octets) throws IOException {
        AtomicFiles.stage(file, octets);
    }

    @Override
    public void rename(Path file, Path target) throws IOException {
        AtomicFiles.rename(file, target);
    }

    @Override
    public void sync(Path folder) throws IOException {
        Folders.sync(folder);
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
