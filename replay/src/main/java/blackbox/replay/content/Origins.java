package blackbox.replay.content;

import java.util.function.BiPredicate;

/// What is known of the values in two streams that are compared.
///
/// @param recorded when its octets were written, on the clock of its own guest
/// @param actual the same of the replay
/// @param names whether a name on the recorded side stands for one on the other side
public record Origins(WrittenWhen recorded, WrittenWhen actual, BiPredicate<String, String> names) {

    /// No name stands for another.
    public Origins(WrittenWhen recorded, WrittenWhen actual) {
        this(recorded, actual, (_, _) -> false);
    }
}
