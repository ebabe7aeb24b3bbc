package blackbox.query.answer;

/// The parts of what a run touched, in the order in which they are reported.
public enum TouchedPart {
    FILES,
    PROCESSES,
    EGRESS,
    PRIVILEGES,
    CALLS
}
