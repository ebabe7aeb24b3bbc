package blackbox.query.answer;

import blackbox.schemas.row.Text;
import blackbox.schemas.view.FileView;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Gathers what was to be done with files and was refused for want of a permission; identical refusals are counted,
/// not listed.
final class RefusalCollector {

    static final int KEPT_MAX = 10_000;
    private static final long EPERM = -1;
    private static final long EACCES = -13;

    private final Programs programs;
    private final Map<Key, long[]> seen = new LinkedHashMap<>();
    private final Room room;
    private long unkept;

    private record Key(String act, String path, @Nullable String by, String error) {}

    /// @param programs of all processes, whosever they are: which directory a relative path is in, it may have from
    /// there
    RefusalCollector(Programs programs, Room room) {
        this.room = room;
        this.programs = programs;
    }

    void see(FileView file, long index) {
        Text named = file.path();
        String error = named == null || !file.failed() ? null : error(file.ret());
        if (named == null || error == null) {
            return;
        }
        String path = programs.absolute(file, named.toString());
        var key = new Key(FileAct.of(file), path, programs.who(file), error);
        if (!seen.containsKey(key) && !room.take()) {
            unkept++;
            return;
        }
        seen.computeIfAbsent(key, _ -> new long[] {index, 0})[1]++;
    }

    private static @Nullable String error(long ret) {
        return ret == EPERM ? "EPERM" : ret == EACCES ? "EACCES" : null;
    }

    List<Touched.FileRefusal> refusals() {
        var refusals = new ArrayList<Touched.FileRefusal>();
        seen.forEach(
                (key, at) -> refusals.add(new Touched.FileRefusal(key.act, key.path, key.by, key.error, at[0], at[1])));
        return refusals;
    }

    List<String> limits() {
        return unkept == 0
                ? List.of()
                : List.of("only " + room.most() + " different refusals of files are listed; " + unkept
                        + " events were of others");
    }
}
