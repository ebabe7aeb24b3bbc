package blackbox.schemas.view;

import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import org.jspecify.annotations.Nullable;

/// A run's first leaf, the policy of its gateway, its agent's start and end, its close; and what a run of the
/// service itself is made of.
public abstract sealed class RunView extends EventView {

    RunView() {}

    /// `run.open`.
    public static final class Open extends RunView {
        Open() {}
    }

    /// `agent.start`.
    public static final class AgentStart extends RunView {
        AgentStart() {}
    }

    /// `agent.exit`.
    public static final class AgentExit extends RunView {
        AgentExit() {}
    }

    /// `egress.policy`: a piece of the policy by which the gateway decides.
    public static final class Policy extends RunView {
        Policy() {}
    }

    /// `access.request`, `access.answer` and `access.grants`: who asked the service what.
    public static final class Access extends RunView {
        Access() {}

        /// Who asked; null if nobody was recognised.
        public @Nullable Text subject() {
            return text(Column.HOST);
        }

        /// Method and route of a request, or how an answer ended.
        public @Nullable Text what() {
            return text(Column.WHAT);
        }

        /// Octets of the answer's body that were sent.
        public long bytes() {
            return count(Column.BYTES_OUT);
        }
    }

    /// `run.close`.
    public static final class Close extends RunView {
        Close() {}
    }
}
