package blackbox.replay.files;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.BiPredicate;

/// When files that both sides left were last modified, where the sides differ in that and each wrote the file then; or
/// the times in their names, where these stand for each other. Such a time, wherever it is shown, may be that file's.
/// In nanoseconds since 1970. Owned by one thread.
public final class FileTimes {
    /// How many files it keeps; the times of further ones are not known.
    static final int FILES_MAX = 1 << 16;

    /// How many files of one recorded time it keeps.
    private static final int ALIKE_MAX = 16;

    /// How many it tries for a time without a date.
    private static final int TRIED_MAX = 4_096;

    private final NavigableMap<Long, List<Long>> actualOf = new TreeMap<>();
    private int count;

    public void add(long recordedNs, long actualNs) {
        if (recordedNs != actualNs && count < FILES_MAX) {
            count++;
            List<Long> known = actualOf.computeIfAbsent(recordedNs, _ -> new ArrayList<>(1));
            if (known.size() < ALIKE_MAX) {
                known.add(actualNs);
            }
        }
    }

    /// Whether there is a file whose times on both sides pass a test, the recorded one being in a range.
    public boolean anyMatch(long fromNs, long toNs, BiPredicate<Long, Long> test) {
        return actualOf.subMap(fromNs, true, toNs, true).entrySet().stream()
                .limit(TRIED_MAX)
                .anyMatch(each -> each.getValue().stream().anyMatch(actualNs -> test.test(each.getKey(), actualNs)));
    }
}
