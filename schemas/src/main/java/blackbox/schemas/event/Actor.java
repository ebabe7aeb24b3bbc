package blackbox.schemas.event;

/// Whose act in the guest an event is. Kept as text, in the column `actor`.
public enum Actor {
    /// The agent's: a process in its control group, or one that descends from such a process.
    AGENT("agent"),
    /// That of what runs the agent: the guest's first process, the tracer, the programs that they start.
    SUPERVISOR("supervisor");

    private final String actorName;

    Actor(String actorName) {
        this.actorName = actorName;
    }

    /// The name in the leaf and in the table.
    public String actorName() {
        return actorName;
    }
}
