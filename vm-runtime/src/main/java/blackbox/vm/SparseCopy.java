package blackbox.vm;

import blackbox.vm.VmException.Code;
import java.nio.file.Path;

/// Copies RAM and disks; their holes are neither read nor written.
public final class SparseCopy {

    private SparseCopy() {}

    /// Creates `to`, writable even if `from` is not.
    public static void make(Path from, Path to) throws VmException {
        Command.of("cp", "--sparse=auto", from.toString(), to.toString()).run();
        if (!to.toFile().setWritable(true, true)) {
            throw new VmException(Code.IO, to + " could not be made writable");
        }
    }
}
