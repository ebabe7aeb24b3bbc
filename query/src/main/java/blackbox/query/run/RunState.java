package blackbox.query.run;

/// Where a run stands.
public enum RunState {
    /// Its recorder is at work.
    OPEN,
    /// It was closed with its counts.
    CLOSED,
    /// Its recorder is gone and never closed it.
    TRUNCATED,
    /// The log of runs has its certificate, and nothing of it is here.
    MISSING
}
