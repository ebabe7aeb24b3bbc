package blackbox.schemas.view;

/// A run's first leaf, the policy of its gateway, its agent's start and end, and its close.
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

    /// `run.close`.
    public static final class Close extends RunView {
        Close() {}
    }
}
