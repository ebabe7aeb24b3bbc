package blackbox.node.record;

/// Hears how a recording goes. Called by any of its threads.
public interface RecordListener {
    /// A line for the person at the terminal, without its end.
    void say(String line);

    /// The agent is about to start: what is heard now is its own words.
    void agentStarts();

    /// The agent has ended, or never started; what it did is still being brought home.
    void agentEnded();
}
