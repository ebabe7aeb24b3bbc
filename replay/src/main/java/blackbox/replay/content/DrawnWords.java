package blackbox.replay.content;

/// Which words each side drew for itself, by where it wrote them, so that one stands for the other.
@FunctionalInterface
public interface DrawnWords {
    /// None.
    DrawnWords NONE = (_, _, _) -> false;

    /// @param before what the recorded side has right before its word, at most [#BEFORE_MAX] octets of it
    /// @param recorded of letters, digits, `_`, `-` and `.`
    /// @param actual the other side's, at the same place
    boolean standFor(String before, String recorded, String actual);

    /// How much of what is before a word is looked at.
    int BEFORE_MAX = 64;
}
