package blackbox.schemas.view;

import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import org.jspecify.annotations.Nullable;

/// A run's first leaf, its agent's start and end, and its close.
public abstract sealed class RunView extends EventView {

    RunView() {}

    /// More about it, as one JSON object.
    public final @Nullable Text detail() {
        return text(Column.DETAIL);
    }

    /// `run.open`.
    public static final class Open extends RunView {
        Open() {}

        /// What the user called the run.
        public @Nullable Text name() {
            return text(Column.WHAT);
        }
    }

    /// `agent.start`.
    public static final class AgentStart extends RunView {
        AgentStart() {}
    }

    /// `agent.exit`.
    public static final class AgentExit extends RunView {
        AgentExit() {}

        /// The exit code of the agent's first process.
        public @Nullable Long exitCode() {
            return number(Column.EXIT_CODE);
        }

        /// The signal that ended it.
        public @Nullable Long signal() {
            return number(Column.SIGNAL);
        }
    }

    /// `run.close`.
    public static final class Close extends RunView {
        Close() {}

        /// The agent's exit code.
        public @Nullable Long exitCode() {
            return number(Column.EXIT_CODE);
        }

        /// The signal that ended the agent.
        public @Nullable Long signal() {
            return number(Column.SIGNAL);
        }
    }
}
