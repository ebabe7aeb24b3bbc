package blackbox.node.record;

/// Follows the progress of a recording. Called by any of its threads.
public interface RecordListener {
    /// A line for the person at the terminal, without its end.
    void say(String line);

    /// The agent is about to start: from now on the output is its own.
    void agentStarts();

    /// The agent has ended, or never started; its workspace and last events are still being collected.
    void agentEnded();
}
