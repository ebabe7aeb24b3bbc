package blackbox.query.answer;

import blackbox.schemas.view.EventView;

/// Whose acts are wanted.
public enum Whose {
    /// Everybody's.
    ALL,
    /// The agent's, and what nobody knows whose it is; with what the host saw.
    AGENT,
    /// Those of what runs the agent in the guest.
    SUPERVISOR;

    /// Whether the event is wanted.
    public boolean takes(EventView event) {
        return switch (this) {
            case ALL -> true;
            case AGENT -> !event.isBySupervisor();
            case SUPERVISOR -> event.isBySupervisor();
        };
    }
}
