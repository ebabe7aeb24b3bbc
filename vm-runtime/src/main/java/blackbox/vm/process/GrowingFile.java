package blackbox.vm.process;

import blackbox.vm.guest.OutputBrake;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;

/// A file that a process appends to, as a stream that ends once the process has ended and everything was
/// read. A read waits while there is nothing new. One thread reads.
public final class GrowingFile extends InputStream implements OutputBrake.Output {
    private static final long LOOK_EVERY_MS = 5;

    private final FileChannel file;
    private final Process writer;

    /// @param from the offset of the first octet that is read
    GrowingFile(Path path, long from, Process writer) throws IOException {
        this.file = FileChannel.open(path, StandardOpenOption.READ).position(from);
        this.writer = writer;
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] octets, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        try {
            while (true) {
                // Asked before reading: if the process has ended by now, all that it wrote is in the file.
                boolean ended = writer.waitFor(0, TimeUnit.MILLISECONDS);
                int count = file.read(ByteBuffer.wrap(octets, offset, length));
                if (count > 0 || ended) {
                    return count > 0 ? count : -1;
                }
                boolean unused = writer.waitFor(LOOK_EVERY_MS, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a file grew");
        }
    }

    /// 0 once it is closed. Any thread.
    @Override
    public long unreadBytes() {
        try {
            return file.size() - file.position();
        } catch (IOException _) {
            return 0;
        }
    }

    /// Up to where it was read; 0 once it is closed. Any thread.
    @Override
    public long readBytes() {
        try {
            return file.position();
        } catch (IOException _) {
            return 0;
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
