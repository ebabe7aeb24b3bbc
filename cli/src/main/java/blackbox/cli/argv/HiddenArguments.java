package blackbox.cli.argv;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Takes arguments back from where every user of the machine can read them, `ps` and `/proc/PID/cmdline`: they may
/// contain the agent's command and variables.
///
/// The kernel shows the memory in which it passed the arguments to the process, and the process may write to that
/// memory. If its last octet is no NUL, the kernel shows what is before the first NUL, so not even the length of what
/// was there (proc(5), setproctitle(3)).
public final class HiddenArguments {
    private static final Path PROCESS = Path.of("/proc/self");

    /// The fields `arg_start` and `arg_end` of `/proc/PID/stat`, counted from 1 as in proc_pid_stat(5). The second
    /// field, a name in parentheses, may contain anything.
    private static final int ARG_START = 48;

    private static final int ARG_END = 49;
    private static final int AFTER_NAME = 3;

    private HiddenArguments() {}

    /// From now on others see neither this process's last arguments nor how long they were.
    ///
    /// @param count how many of the last ones, at least one
    /// @throws IOException when the kernel does not let this process do that; nothing has changed then
    public static void hide(int count) throws IOException {
        byte[] shown = Files.readAllBytes(PROCESS.resolve("cmdline"));
        String stat = Files.readString(PROCESS.resolve("stat"), StandardCharsets.ISO_8859_1);
        String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ");
        long start = Long.parseLong(fields[ARG_START - AFTER_NAME]);
        if (Long.parseLong(fields[ARG_END - AFTER_NAME]) - start != shown.length) {
            throw new IOException("the kernel shows other arguments than this process was given");
        }
        var title = ByteBuffer.wrap(title(shown, count));
        try (FileChannel memory = FileChannel.open(PROCESS.resolve("mem"), StandardOpenOption.WRITE)) {
            while (title.hasRemaining()) {
                memory.write(title, start + title.position());
            }
        }
    }

    /// As many octets that have the last words no more: the other words with spaces between, a NUL, and others to fill.
    ///
    /// @param cmdline every word ended by a NUL
    static byte[] title(byte[] cmdline, int count) {
        int from = cmdline.length;
        for (int words = 0; words < count; words++) {
            from--;
            while (from > 0 && cmdline[from - 1] != 0) {
                from--;
            }
        }
        var title = new byte[cmdline.length];
        for (int i = 0; i < title.length; i++) {
            boolean ends = i == from - 1;
            title[i] = ends ? 0 : i < from && cmdline[i] != 0 ? cmdline[i] : (byte) ' ';
        }
        return title;
    }
}
