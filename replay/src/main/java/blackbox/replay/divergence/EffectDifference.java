package blackbox.replay.divergence;

/// Something that the world outside of a run, or a later reader, can tell apart.
///
/// @param subject the file, peer or process
/// @param expected what was recorded, in words
/// @param actual what the other side has instead
public record EffectDifference(Kind kind, String subject, String expected, String actual) {

    /// What kind of effect.
    public enum Kind {
        /// Which program ran, with which arguments and where.
        PROGRAM,
        /// How a process ended.
        EXIT,
        /// What a file is: in the end, or when its name came to mean another file.
        FILE,
        /// What was sent, to whom, or listened for.
        NETWORK,
        /// Who may do what.
        PRIVILEGE,
        /// What was printed.
        OUTPUT,
        /// Anything else.
        OTHER
    }
}
