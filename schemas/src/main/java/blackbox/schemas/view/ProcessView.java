package blackbox.schemas.view;

import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An event in a process's life.
public abstract sealed class ProcessView extends EventView {

    ProcessView() {}

    /// `process.exec`: a program was executed, or the attempt failed.
    public static final class Exec extends ProcessView {
        Exec() {}

        public @Nullable Text exe() {
            return text(Column.EXE);
        }

        /// The arguments, or null if they are not known.
        public @Nullable List<Text> argv() {
            return has(Column.ARGV) ? list(Column.ARGV) : null;
        }
    }

    /// `process.fork`: the event's process is the child.
    public static final class Fork extends ProcessView {
        Fork() {}

        public @Nullable ProcessId parent() {
            Long ppid = ppid();
            return ppid != null && has(Column.PARENT_START_NS)
                    ? new ProcessId(ppid, count(Column.PARENT_START_NS))
                    : null;
        }
    }

    /// `process.exit`.
    public static final class Exit extends ProcessView {
        Exit() {}

        public @Nullable Long exitCode() {
            return number(Column.EXIT_CODE);
        }

        /// The signal that ended it.
        public @Nullable Long signal() {
            return number(Column.SIGNAL);
        }
    }

    /// `process.signal`: sent to another process by this one, or in a call of its by the kernel.
    public static final class Signal extends ProcessView {
        Signal() {}
    }

    /// `process.container`: the process is the first in the container of which the event has the number.
    public static final class Container extends ProcessView {
        Container() {}

        /// Its root by the name that it has for the agent's first processes, or null if that is not known.
        public @Nullable Text root() {
            return text(Column.PATH);
        }
    }

    /// `process.running`: it ran before the tracer was ready.
    public static final class Running extends ProcessView {
        Running() {}

        public @Nullable Text exe() {
            return text(Column.EXE);
        }
    }
}
