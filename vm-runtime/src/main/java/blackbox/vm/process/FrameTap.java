package blackbox.vm.process;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.file.Path;

/// The pipe through which QEMU passes every network frame, as a pcap stream. QEMU blocks when nobody reads: frames
/// are then delayed, never lost.
public final class FrameTap implements AutoCloseable {
    private final RandomAccessFile holder;
    private final FileInputStream in;

    /// Creates the pipe at `path`.
    FrameTap(Path path) throws VmException {
        Command.of("mkfifo", "-m", "600", path.toString()).run();
        try {
            // Opening it for reading and writing never blocks, so neither our reader nor QEMU's writer waits for
            // the other.
            holder = new RandomAccessFile(path.toFile(), "rw");
            in = new FileInputStream(path.toFile());
        } catch (IOException e) {
            throw new VmException(Code.IO, path + " could not be opened", e);
        }
    }

    /// Must be called once QEMU has opened its side: from then on the stream ends when QEMU does.
    void handOver() throws VmException {
        try {
            holder.close();
        } catch (IOException e) {
            throw new VmException(Code.IO, "the pipe of network frames could not be handed over", e);
        }
    }

    /// Reads all frames on its own thread and discards them. It is a platform thread: reading a pipe blocks a
    /// virtual thread's carrier, and there are only as many carriers as cores.
    public static Thread discard(InputStream frames) {
        return Thread.ofPlatform().daemon().name("frames").start(() -> {
            try {
                frames.transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                return; // closed meanwhile, at the end
            }
        });
    }

    InputStream frames() {
        return in;
    }

    @Override
    public void close() throws VmException {
        try (holder;
                in) {
            handOver();
        } catch (IOException e) {
            throw new VmException(Code.IO, "the pipe of network frames could not be closed", e);
        }
    }
}
