package blackbox.replay.request;

/// The words that a recording has in what went to peers and came from them.
@FunctionalInterface
public interface RecordedWords {
    /// It has none.
    RecordedWords NONE = _ -> false;

    /// Whether a word is among them; true where that is not known.
    ///
    /// @param word of letters and digits, or a UUID
    boolean mayHave(String word);
}
