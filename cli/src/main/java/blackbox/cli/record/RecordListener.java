package blackbox.cli.record;

import blackbox.schemas.RunId;

/// Hears how a recording goes. Called by any of its threads.
public interface RecordListener {
    /// A line for the person at the terminal, without its end.
    void say(String line);

    /// The agent is about to start: from here on what is heard is its own words.
    void agentStarts(RunId run);
}
