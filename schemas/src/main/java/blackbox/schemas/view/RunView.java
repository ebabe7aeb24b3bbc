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

    /// An event of a service's own record of who asked it what.
    public abstract static sealed class Access extends RunView {
        Access() {}

        /// Who asked; null if nobody was recognised, and of grants.
        public final @Nullable Text subject() {
            return text(Column.HOST);
        }
    }

    /// `access.request`: somebody asks the service something.
    public static final class Request extends Access {
        Request() {}
    }

    /// `access.answer`: what it answered to that.
    public static final class Answer extends Access {
        Answer() {}

        /// Octets of the answer's body that were sent.
        public long bytes() {
            return count(Column.BYTES_OUT);
        }
    }

    /// `access.grants`: who may ask it what.
    public static final class Grants extends Access {
        Grants() {}
    }

    /// `run.close`.
    public static final class Close extends RunView {
        Close() {}
    }
}
