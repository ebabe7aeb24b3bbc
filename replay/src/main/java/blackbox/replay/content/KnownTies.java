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

    /// Whether there are processes of which one stands for the other, and each was so old when something was written.
    ///
    /// @param recordedNs when the recorded value was
    /// @param age what the recorded process's age lies in, give or take a second; nanoseconds
    /// @param actualNs when the other value was
    /// @param otherAge the same of the other process
    default boolean isSameAge(long recordedNs, Window age, long actualNs, Window otherAge) throws IOException {
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
