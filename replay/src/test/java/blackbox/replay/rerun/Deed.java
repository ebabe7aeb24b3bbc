package blackbox.replay.rerun;

import blackbox.recorder.capture.PrintedStream;
import java.util.List;

/// One thing that a program of a [SmallBuild] does. Texts may hold `${time}`, the time by its own guest's clock, and
/// `${name}`, the name that the program made up last, `${pid}`, the agent's number, and `${compiler}`, that of the
/// first
/// program that it ran.
sealed interface Deed {

    /// Opens for reading, or only looks; `ret` is 0 or a negated errno.
    record Open(String path, long flags, long ret) implements Deed {}

    /// Reads, in one event for each group of calls; the numbers are octets of each call.
    record Read(String path, List<List<Integer>> calls) implements Deed {}

    /// Creates a file, or goes on where it ended, and writes the pieces one after the other.
    record Write(String path, List<String> pieces, int mode) implements Deed {
        String content() {
            return String.join("", pieces);
        }
    }

    record Chmod(String path, int mode) implements Deed {}

    record Rename(String from, String to) implements Deed {}

    record Symlink(String path, String target) implements Deed {}

    record Unlink(String path) implements Deed {}

    /// Makes up a name in a folder, creates it exclusively and writes.
    record Temporary(String folder, String content) implements Deed {}

    record Print(PrintedStream stream, String text) implements Deed {}

    /// Connects and exchanges a request for an answer.
    ///
    /// @param attempts results of calls that failed before, negated errnos
    /// @param lost how many octets of the answer do not arrive
    record Fetch(String ip, int port, String request, String answer, List<Integer> attempts, int lost)
            implements Deed {}

    /// Accepts on a port that the kernel chose, after calls that failed.
    record Serve(List<Integer> attempts) implements Deed {}

    /// Waits for a timer.
    record Sleep(long ns) implements Deed {}

    /// Runs a program and waits for it.
    record Run(Program program) implements Deed {}

    /// Runs programs side by side and waits for all.
    record Beside(List<Program> programs) implements Deed {}

    /// Does what several threads of the program do.
    record Threads(List<List<Step>> threads) implements Deed {}

    /// A deed at its place; numbers are unique in a build.
    record Step(int id, Deed deed) {}

    /// A program.
    record Program(String name, List<String> arguments, String folder, List<Step> steps, int exit) {
        Program with(List<Step> others) {
            return new Program(name, arguments, folder, others, exit);
        }
    }
}
