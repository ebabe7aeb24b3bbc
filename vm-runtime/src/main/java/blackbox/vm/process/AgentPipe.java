package blackbox.vm.process;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;

/// The pipe through which an agent of the exact tier gets its input. QEMU opens it while it starts.
public final class AgentPipe implements AutoCloseable {
    private final RandomAccessFile pipe;

    public AgentPipe(MachineFolder folder) throws VmException {
        Path path = folder.file(QemuArguments.STDIN);
        Command.of("mkfifo", "-m", "600", path.toString()).run();
        try {
            // Opening it for reading and writing never blocks, and then QEMU's opening does not block either.
            pipe = new RandomAccessFile(path.toFile(), "rw");
        } catch (IOException e) {
            throw new VmException(Code.IO, path + " could not be opened", e);
        }
    }

    public WritableByteChannel channel() {
        return pipe.getChannel();
    }

    @Override
    public void close() throws VmException {
        try {
            pipe.close();
        } catch (IOException e) {
            throw new VmException(Code.IO, "the pipe of the agent's input could not be closed", e);
        }
    }
}
