package blackbox.ingest.table;

import blackbox.files.Folders;
import blackbox.schemas.table.EventsTable;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.io.PositionOutputStream;
import org.apache.iceberg.io.SeekableInputStream;

/// Iceberg's files on the local disk, without Hadoop. What was written is durable when its stream is closed.
///
/// The table's metadata names files by their location when it was written. A data folder may have been moved
/// or copied since, so only a file's path below the table's folder counts.
final class LocalFiles implements FileIO {

    private static final long serialVersionUID = 1L;

    /// How every table's folder ends, wherever the data folder is.
    private static final String TABLE = "/warehouse/" + EventsTable.NAMESPACE + "/" + EventsTable.NAME + "/";

    /// The table's folder, absolute, without a slash at its end.
    private final String table;

    LocalFiles(Path table) {
        this.table = table.toString();
    }

    private Path pathOf(String location) {
        String path = location.startsWith("file:") ? URI.create(location).getPath() : location;
        int moved = path.startsWith(table + "/") ? -1 : path.lastIndexOf(TABLE);
        return moved < 0 ? Path.of(path) : Path.of(table, path.substring(moved + TABLE.length()));
    }

    @Override
    public InputFile newInputFile(String location) {
        return new LocalInput(location, pathOf(location));
    }

    @Override
    public OutputFile newOutputFile(String location) {
        return new LocalOutput(location, pathOf(location));
    }

    @Override
    public void deleteFile(String location) {
        try {
            Files.deleteIfExists(pathOf(location));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record LocalInput(String location, Path path) implements InputFile {

        @Override
        public long getLength() {
            try {
                return Files.size(path);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public SeekableInputStream newStream() {
            try {
                return new LocalInputStream(FileChannel.open(path, StandardOpenOption.READ));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public boolean exists() {
            return Files.exists(path);
        }
    }

    private record LocalOutput(String location, Path path) implements OutputFile {

        @Override
        public PositionOutputStream create() {
            return open(StandardOpenOption.CREATE_NEW);
        }

        @Override
        public PositionOutputStream createOrOverwrite() {
            return open(StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
        }

        private PositionOutputStream open(StandardOpenOption... how) {
            try {
                Path folder = path.getParent();
                if (folder != null) {
                    Folders.create(folder);
                }
                var options = new HashSet<StandardOpenOption>(List.of(how));
                options.add(StandardOpenOption.WRITE);
                return new LocalOutputStream(path, FileChannel.open(path, options));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public InputFile toInputFile() {
            return new LocalInput(location, path);
        }
    }

    private static final class LocalInputStream extends SeekableInputStream {

        private final FileChannel channel;
        private BufferedInputStream in;
        private long position;

        LocalInputStream(FileChannel channel) {
            this.channel = channel;
            this.in = new BufferedInputStream(Channels.newInputStream(channel));
        }

        @Override
        public long getPos() {
            return position;
        }

        @Override
        public void seek(long target) throws IOException {
            channel.position(target);
            in = new BufferedInputStream(Channels.newInputStream(channel));
            position = target;
        }

        @Override
        public int read() throws IOException {
            int octet = in.read();
            position += octet < 0 ? 0 : 1;
            return octet;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            int count = in.read(target, offset, length);
            position += Math.max(0, count);
            return count;
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    private static final class LocalOutputStream extends PositionOutputStream {

        private final Path path;
        private final FileChannel channel;
        private final BufferedOutputStream out;
        private long position;

        LocalOutputStream(Path path, FileChannel channel) {
            this.path = path;
            this.channel = channel;
            this.out = new BufferedOutputStream(Channels.newOutputStream(channel));
        }

        @Override
        public long getPos() {
            return position;
        }

        @Override
        public void write(int octet) throws IOException {
            out.write(octet);
            position++;
        }

        @Override
        public void write(byte[] source, int offset, int length) throws IOException {
            out.write(source, offset, length);
            position += length;
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }

        @Override
        public void close() throws IOException {
            if (channel.isOpen()) {
                out.flush();
                channel.force(true);
                channel.close();
                Path folder = path.getParent();
                if (folder != null) {
                    Folders.sync(folder);
                }
            }
        }
    }
}
