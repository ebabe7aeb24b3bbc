package blackbox.replay.content;

import java.io.IOException;
import java.util.function.BiPredicate;

/// Which values stand for each other wherever they are found, because of where they come from.
@FunctionalInterface
public interface KnownTies {

    /// None do.
    KnownTies NONE = (_, _) -> false;

    /// Whether a word of letters, digits, `_`, `-` and `.` on the recorded side stands for one on the other side.
    boolean standFor(String recorded, String actual);

    /// Whether there are times on both sides that stand for each other whenever they are written, and pass a test.
    ///
    /// @param fromNs the recorded one is not before, in nanoseconds since 1970
    /// @param toNs nor after
    default boolean anyTimes(long fromNs, long toNs, BiPredicate<Long, Long> test) {
        return false;
    }

    /// Whether a second since 1970 on the recorded side stands for one on the other side, whenever it was written.
    default boolean isSameSecond(long recorded, long actual) {
        return false;
    }

    /// Whether what took so long on the recorded side may have taken so long on the other one, by when both did the
    /// same. Nothing may if that is not known.
    ///
    /// @param recordedNs when the recorded duration was written, in nanoseconds since 1970
    /// @param length in which it lies, in nanoseconds
    /// @param actualNs when the other one was
    /// @param otherLength in which that one lies
    default boolean isSameStretch(long recordedNs, Window length, long actualNs, Window otherLength) {
        return false;
    }

    /// Whether two numbers are those of processes of which one stands for the other, and each process lived when its
    /// number was written.
    ///
    /// @param recordedWhen when the recorded number was
    /// @param actualWhen when the other one was
    default boolean isSameProcess(long recorded, Window recordedWhen, long actual, Window actualWhen)
            throws IOException {
        return false;
    }
}
