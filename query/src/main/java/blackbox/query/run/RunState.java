package blackbox.query.run;

/// The state of a run.
public enum RunState {
    /// Its recorder is running.
    OPEN,
    /// It was closed with its counts.
    CLOSED,
    /// Its recorder is gone and never closed it.
    TRUNCATED,
    /// The log of runs has its certificate, and nothing of it is here.
    MISSING
}
