package blackbox.vm.guest;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Pauses a process for short times. A separate shell sends the signals, so that the process is resumed even if
/// this program is killed meanwhile. Owned by one thread.
final class Brake implements AutoCloseable {
    private static final String SCRIPT = """
            trap '' HUP INT TERM
            while read -r seconds; do
              kill -STOP "$1" && sleep "$seconds"
              kill -CONT "$1"
              echo
            done 2> /dev/null
            """;

    private final ProcessHandle held;
    private @Nullable Process shell;
    private boolean broken;

    Brake(ProcessHandle held) {
        this.held = held;
    }

    /// Stops the process and resumes it after `time`.
    void hold(Duration time) throws VmException {
        if (broken || !held.isAlive()) {
            return;
        }
        Process to = shell;
        if (to == null) {
            to = Command.of("setsid", "sh", "-c", SCRIPT, "brake", Long.toString(held.pid()))
                    .start();
            shell = to;
        }
        try {
            Writer out = to.outputWriter(StandardCharsets.US_ASCII);
            out.write(String.format(Locale.ROOT, "%.3f%n", time.toNanos() / 1e9));
            out.flush();
            BufferedReader in = to.inputReader(StandardCharsets.US_ASCII);
            if (in.readLine() == null) {
                throw new IOException("its shell has ended");
            }
        } catch (IOException e) {
            // Whoever ended the shell may have done so while the process was stopped.
            Command.of("kill", "-CONT", Long.toString(held.pid())).run();
            broken = true;
            throw new VmException(VmException.Code.IO, "QEMU could not be paused", e);
        }
    }

    /// Resumes a paused process.
    @Override
    public void close() {
        Process to = shell;
        if (to != null) {
            try {
                to.getOutputStream().close(); // the end of what it reads
            } catch (IOException e) {
                to.destroyForcibly();
            }
        }
    }
}
