package blackbox.cli.argv;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// The memory of this process in which the kernel has passed something to it, and which it still shows in a file.
enum OwnMemory {
    /// Every argument, ended by a NUL: for every user of the machine.
    ARGUMENTS("cmdline", 48),

    /// Every variable of the environment, ended by a NUL: for this user, and copied for each child.
    ENVIRONMENT("environ", 50);

    private static final Path PROCESS = Path.of("/proc/self");

    /// The first field of `/proc/PID/stat` after a name in parentheses, which may contain anything.
    private static final int AFTER_NAME = 3;

    private final String file;
    private final int startField;

    /// @param startField where `/proc/PID/stat` says at which address it begins, counted from 1 as in
    ///     proc_pid_stat(5); the next field says where it ends
    OwnMemory(String file, int startField) {
        this.file = file;
        this.startField = startField;
    }

    byte[] read() throws IOException {
        return Files.readAllBytes(PROCESS.resolve(file));
    }

    /// Overwrites it.
    ///
    /// @param octets as many as [#read] returned
    /// @throws IOException when the kernel does not let this process do that
    void overwrite(byte[] octets) throws IOException {
        String stat = Files.readString(PROCESS.resolve("stat"), StandardCharsets.ISO_8859_1);
        String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ");
        long start = Long.parseLong(fields[startField - AFTER_NAME]);
        if (Long.parseLong(fields[startField + 1 - AFTER_NAME]) - start != octets.length) {
            throw new IOException("the kernel shows something else in " + PROCESS.resolve(file)
                    + " than it has passed to this process");
        }
        var left = ByteBuffer.wrap(octets);
        try (FileChannel memory = FileChannel.open(PROCESS.resolve("mem"), StandardOpenOption.WRITE)) {
            while (left.hasRemaining()) {
                memory.write(left, start + left.position());
            }
        }
    }
}
