package blackbox.schemas.view;

/// A run's first leaf, its agent's start and end, and its close.
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

    /// `run.close`.
    public static final class Close extends RunView {
        Close() {}
    }
}
