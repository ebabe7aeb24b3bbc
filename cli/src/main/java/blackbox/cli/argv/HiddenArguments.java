package blackbox.cli.argv;

import java.io.IOException;

/// Takes arguments back from where every user of the machine can read them, `ps` and `/proc/PID/cmdline`: they may
/// contain the agent's command and variables.
///
/// The kernel shows the memory in which it passed the arguments to the process, and the process may write to that
/// memory. If its last octet is no NUL, the kernel shows what is before the first NUL, so not even the length of what
/// was there (proc(5), setproctitle(3)).
public final class HiddenArguments {
    private HiddenArguments() {}

    /// From now on others see neither this process's last arguments nor how long they were.
    ///
    /// @param count how many of the last ones, at least one
    /// @throws IOException when the kernel does not let this process do that; nothing has changed then
    public static void hide(int count) throws IOException {
        OwnMemory.ARGUMENTS.overwrite(title(OwnMemory.ARGUMENTS.read(), count));
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
