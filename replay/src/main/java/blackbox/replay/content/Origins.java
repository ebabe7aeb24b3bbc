package blackbox.replay.content;

/// What is known of the values in two streams that are compared.
///
/// @param recorded when its octets were written, on the clock of its own guest
/// @param actual the same of the replay
/// @param values which stand for each other whenever they were written
/// @param drawn which words do by where they are
public record Origins(WrittenWhen recorded, WrittenWhen actual, KnownTies values, DrawnWords drawn) {

    /// No word stands for another by where it is.
    public Origins(WrittenWhen recorded, WrittenWhen actual, KnownTies values) {
        this(recorded, actual, values, DrawnWords.NONE);
    }

    /// Only times stand for each other.
    public Origins(WrittenWhen recorded, WrittenWhen actual) {
        this(recorded, actual, KnownTies.NONE);
    }
}
