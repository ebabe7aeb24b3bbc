package blackbox.query.answer;

import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Gathers changes of credentials and uses of privileged interfaces; alike ones are counted, not listed.
final class PrivilegeCollector {

    private static final int USES_MAX = 10_000;

    private final Map<Key, long[]> uses = new LinkedHashMap<>();
    private boolean ioUring;
    private long unkept;

    private record Key(
            String what, @Nullable String subject, @Nullable String comm, boolean refused) {}

    void see(Kind kind, Row row, long index) {
        switch (kind) {
            case CRED_CHANGE -> credentials(row, index);
            case PRIVILEGE_USE -> use(row, index);
            default -> {}
        }
    }

    private void credentials(Row row, long index) {
        change(row, Column.UID, Column.UID_TO, "uid", index);
        change(row, Column.GID, Column.GID_TO, "gid", index);
        long before = row.has(Column.CAPS) ? row.number(Column.CAPS) : 0;
        long after = row.has(Column.CAPS_TO) ? row.number(Column.CAPS_TO) : 0;
        if ((after & ~before) != 0) {
            count(row, "capabilities", "gained " + Capabilities.names(after & ~before), index);
        }
    }

    private void change(Row row, Column from, Column to, String what, long index) {
        if (row.has(from) && row.has(to) && row.number(from) != row.number(to)) {
            count(row, what, row.number(from) + " to " + row.number(to), index);
        }
    }

    private void use(Row row, long index) {
        String what = row.has(Column.WHAT) ? row.text(Column.WHAT).toString() : "unknown";
        ioUring |= what.startsWith("io_uring");
        count(row, what, row.has(Column.PATH) ? row.text(Column.PATH).toString() : null, index);
    }

    private void count(Row row, String what, @Nullable String subject, long index) {
        String comm = row.has(Column.COMM) ? row.text(Column.COMM).toString() : null;
        var key = new Key(what, subject, comm, row.has(Column.RET) && row.number(Column.RET) < 0);
        if (!uses.containsKey(key) && uses.size() >= USES_MAX) {
            unkept++;
            return;
        }
        uses.computeIfAbsent(key, _ -> new long[] {index, 0})[1]++;
    }

    List<Touched.PrivilegeUse> privileges() {
        var privileges = new ArrayList<Touched.PrivilegeUse>();
        uses.forEach((key, seen) -> privileges.add(
                new Touched.PrivilegeUse(key.what, key.subject, key.comm, seen[0], seen[1], key.refused)));
        return privileges;
    }

    List<String> limits() {
        var limits = new ArrayList<String>();
        if (ioUring) {
            limits.add("io_uring was used; reads and writes submitted through it may not have been seen");
        }
        if (unkept > 0) {
            limits.add(
                    "only " + USES_MAX + " different uses of privileges are listed; " + unkept + " events were others");
        }
        return limits;
    }
}
