package blackbox.ingest.table;

import blackbox.files.Folders;
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
final class LocalFiles implements FileIO {

    private static final long serialVersionUID = 1L;

    static Path pathOf(String location) {
        return location.startsWith("file:") ? Path.of(URI.create(location)) : Path.of(location);
    }

    @Override
    public InputFile newInputFile(String location) {
        return new LocalInput(location);
    }

    @Override
    public OutputFile newOutputFile(String location) {
        return new LocalOutput(location);
    }

    @Override
    public void deleteFile(String location) {
        try {
            Files.deleteIfExists(pathOf(location));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record LocalInput(String location) implements InputFile {

        @Override
        public long getLength() {
            try {
                return Files.size(pathOf(location));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public SeekableInputStream newStream() {
            try {
                return new LocalInputStream(FileChannel.open(pathOf(location), StandardOpenOption.READ));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public boolean exists() {
            return Files.exists(pathOf(location));
        }
    }

    private record LocalOutput(String location) implements OutputFile {

        @Override
        public PositionOutputStream create() {
            return open(StandardOpenOption.CREATE_NEW);
        }

        @Override
        public PositionOutputStream createOrOverwrite() {
            return open(StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
        }

        private PositionOutputStream open(StandardOpenOption... how) {
            Path path = pathOf(location);
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
            return new LocalInput(location);
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
