package blackbox.evidence.storage;

import blackbox.files.AtomicFiles;
import blackbox.files.Folders;
import blackbox.schemas.folder.DataFolder;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

/// Files below a folder of the local disk. A file to be put must be on the same file system, so that one
/// rename gives it its name; an open file stays readable when it is deleted.
///
/// @param root the folder, absolute
public record LocalStore(Path root) implements FileStore {

    public LocalStore {
        root = root.toAbsolutePath().normalize();
    }

    /// The store in a data folder itself.
    public static LocalStore in(DataFolder data) {
        return new LocalStore(data.warehouse());
    }

    @Override
    public Path local(String key) {
        Path file = root.resolve(key).normalize();
        if (!file.startsWith(root) || file.equals(root)) {
            throw new IllegalArgumentException("'" + key + "' is not a valid key");
        }
        return file;
    }

    /// Whoever may write to the folder can set a file's modification time, but not its change time.
    @Override
    public String version(String key) throws IOException {
        return new TreeMap<>(Files.readAttributes(local(key), "unix:ino,size,ctime")).toString();
    }

    @Override
    public String location(String key) {
        return local(key).toString();
    }

    @Override
    public void put(String key, Path finished) throws IOException {
        Path file = local(key);
        Folders.create(file.resolveSibling(".").normalize());
        if (Files.exists(file)) {
            throw new FileAlreadyExistsException(key);
        }
        AtomicFiles.put(finished, file);
    }

    @Override
    public StoredFile open(String key) throws IOException {
        return file(local(key));
    }

    /// Opens a file of the local disk that is not in a store.
    public static StoredFile file(Path path) throws IOException {
        FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
        try {
            return new LocalFile(channel, channel.size());
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    private record LocalFile(FileChannel channel, long size) implements StoredFile {

        @Override
        public void read(long position, ByteBuffer target) throws IOException {
            long at = position;
            while (target.hasRemaining()) {
                int n = channel.read(target, at);
                if (n < 0) {
                    throw new EOFException("the file ends too soon");
                }
                at += n;
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    @Override
    public List<String> list(String folder) throws IOException {
        try (Stream<Path> entries = Files.list(local(folder))) {
            return entries.map(entry -> entry.getFileName() + (Files.isDirectory(entry) ? "/" : ""))
                    .sorted()
                    .toList();
        } catch (NoSuchFileException | NotDirectoryException e) {
            return List.of();
        }
    }

    @Override
    public boolean exists(String key) {
        return Files.isRegularFile(local(key));
    }

    @Override
    public void delete(String key) throws IOException {
        Files.deleteIfExists(local(key));
    }
}
