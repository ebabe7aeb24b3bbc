package blackbox.replay.divergence;

import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads one side again and carries along what can have led to what: from parent to child, from a child's end
/// to its parent, from who writes a path to who opens it, from who connects to who accepts.
///
/// Memory: what leads to each process and to the last [#PATHS_MAX] paths. Owned by one thread.
final class CausalScan {

    private static final int PATHS_MAX = 65_536;
    private static final int GAPS_MAX = 16;

    private static final Set<String> CLOCKS = Set.of("date", "hwclock", "uptime", "timedatectl", "cal");
    private static final Set<String> CLOCK_FILES =
            Set.of("/etc/localtime", "/proc/uptime", "/dev/rtc", "/dev/rtc0", "/proc/driver/rtc");
    private static final Set<String> RANDOMS = Set.of("shuf", "uuidgen", "openssl", "pwgen");
    private static final Set<String> RANDOM_FILES =
            Set.of("/dev/urandom", "/dev/random", "/dev/hwrng", "/proc/sys/kernel/random/uuid");

    private static final List<String> NO_INPUTS =
            List.of("/proc/", "/sys/", "/dev/", "/usr/", "/lib", "/bin/", "/etc/ld.so");

    /// Findings that do not say that something is missing.
    private static final Set<String> HARMLESS = Set.of("CLOCK_SET_BACK", "DNS_UNREADABLE");

    /// A flow that differs: whoever connected to its remote end depends on it.
    record Watched(String remoteIp, long remotePort, long localPort, long bit) {}

    /// An event that says that others are missing.
    record Gap(long index, String what, long lost) {}

    private final Map<Long, Long> candidates;
    private final List<Watched> flows;
    private final Map<Long, Past> found = new HashMap<>();
    private final Map<Long, Past> pasts = new HashMap<>();
    private final Map<Long, Long> parents = new HashMap<>();
    private final List<Gap> gaps = new ArrayList<>();
    private final List<Long> misses = new ArrayList<>();
    private final Map<String, Past> paths = bounded();
    private final Map<String, Boolean> written = bounded();
    private final Map<Long, Past> ports = new HashMap<>();
    private final Map<Long, Boolean> unpacking = new HashMap<>();

    /// @param candidates event index to bit
    CausalScan(Map<Long, Long> candidates, List<Watched> flows) {
        this.candidates = candidates;
        this.flows = flows;
    }

    private static <V> Map<String, V> bounded() {
        return new LinkedHashMap<>(64, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
                return size() > PATHS_MAX;
            }
        };
    }

    /// Reads up to the event at `until` and from there to the next heartbeat of the tracer, which would tell
    /// of losses, or to the end.
    CausalScan scan(EventSource source, long until) throws IOException {
        try (EventCursor cursor = source.open(0)) {
            while (cursor.next()) {
                Row row = cursor.row();
                Kind kind = row.has(Column.KIND) ? Kind.ofCode(row.number(Column.KIND)) : null;
                if (kind == null) {
                    continue;
                }
                see(row, kind, cursor.index());
                if (kind == Kind.TRACER_HEARTBEAT && cursor.index() > until) {
                    break;
                }
            }
        }
        return this;
    }

    private void see(Row row, Kind kind, long index) {
        switch (kind) {
            case RECORDER_LOSS -> gap(row, index, row.has(Column.LOST) ? row.number(Column.LOST) : 0);
            case RECORDER_FINDING -> gap(row, index, 0);
            case NET_MISS -> misses.add(index);
            default -> {}
        }
        if (!row.has(Column.PID) || !Lineage.isCompared(row)) {
            candidate(index, null);
            return;
        }
        long process = id(row.number(Column.PID), number(row, Column.START_NS));
        if (kind == Kind.PROCESS_FORK) {
            long parent = id(number(row, Column.PPID), number(row, Column.PARENT_START_NS));
            parents.put(process, parent);
            pasts.put(process, pasts.getOrDefault(parent, Past.NOTHING));
        }
        learn(row, kind, index, process);
        candidate(index, process);
        tell(row, kind, process);
    }

    private void gap(Row row, long index, long lost) {
        String what = row.has(Column.WHAT) ? row.text(Column.WHAT).toString() : "?";
        if (gaps.size() < GAPS_MAX && !HARMLESS.contains(what)) {
            gaps.add(new Gap(index, what, lost));
        }
    }

    private void candidate(long index, @Nullable Long process) {
        Long bit = candidates.get(index);
        if (bit == null) {
            return;
        }
        Past before = process == null ? Past.NOTHING : pasts.getOrDefault(process, Past.NOTHING);
        found.put(index, before);
        if (process != null) {
            pasts.put(process, before.withDivergence(bit));
        }
    }

    /// What the event takes in.
    private void learn(Row row, Kind kind, long index, long process) {
        Past past = pasts.getOrDefault(process, Past.NOTHING);
        Past now = past;
        switch (kind) {
            case PROCESS_EXEC -> now = executed(row, index, process, past);
            case FILE_OPEN, FILE_IO, FILE_CLOSE, FILE_UNLINK, FILE_RENAME, FILE_MKDIR ->
                now = reads(row, kind, index, past);
            case NET_CONNECT, NET_SEND -> now = connects(row, index, past);
            case NET_ACCEPT -> now = past.and(ports.getOrDefault(number(row, Column.LOCAL_PORT), Past.NOTHING));
            case DNS_QUERY -> now = past.withNetwork(index);
            default -> {}
        }
        pasts.put(process, now);
    }

    private Past executed(Row row, long index, long process, Past past) {
        String exe = text(row, Column.EXE);
        String program = exe.substring(exe.lastIndexOf('/') + 1);
        if (number(row, Column.RET) < 0) {
            return past;
        }
        if (program.equals("tar") && row.has(Column.PPID) && row.number(Column.PPID) == 1) {
            unpacking.put(process, true);
        }
        Past now = past.and(paths.getOrDefault(exe, Past.NOTHING));
        if (!written.containsKey(exe) && !isNoInput(exe)) {
            now = now.withFile(exe, index);
        }
        if (CLOCKS.contains(program)) {
            now = now.withClock(index);
        }
        return RANDOMS.contains(program) ? now.withRandom(index) : now;
    }

    private Past reads(Row row, Kind kind, long index, Past past) {
        String path = text(row, Column.PATH);
        if (RANDOM_FILES.contains(path)) {
            return past.withRandom(index);
        }
        if (CLOCK_FILES.contains(path)) {
            return past.withClock(index);
        }
        Past now = past.and(paths.getOrDefault(path, Past.NOTHING));
        boolean read = kind == Kind.FILE_IO
                ? number(row, Column.BYTES_READ) > 0
                : kind == Kind.FILE_OPEN && (number(row, Column.FLAGS) & 3) != 1;
        if (!read || number(row, Column.RET) < 0 || isNoInput(path)) {
            return now;
        }
        return written.containsKey(path) ? now.withUsed(path, index) : now.withFile(path, index);
    }

    /// Kernel's own files, and what every program opens when it starts: those are the image's.
    private static boolean isNoInput(String path) {
        return NO_INPUTS.stream().anyMatch(path::startsWith);
    }

    private Past connects(Row row, long index, Past past) {
        String ip = text(row, Column.REMOTE_IP);
        long port = number(row, Column.REMOTE_PORT);
        if (ip.startsWith("127.") || ip.equals("::1")) {
            ports.merge(port, past, Past::and);
            return past;
        }
        Past now = ip.isEmpty() ? past : past.withNetwork(index);
        for (Watched flow : flows) {
            boolean same = flow.remoteIp().equals(ip) && flow.remotePort() == port;
            long local = number(row, Column.LOCAL_PORT);
            if (same && (local == 0 || flow.localPort() == 0 || local == flow.localPort())) {
                now = now.withDivergence(flow.bit());
            }
        }
        return now;
    }

    /// What the event hands on.
    private void tell(Row row, Kind kind, long process) {
        Past past = pasts.getOrDefault(process, Past.NOTHING);
        if (kind == Kind.PROCESS_EXIT) {
            Long parent = parents.remove(process);
            if (parent != null) {
                pasts.merge(parent, past, Past::and);
            }
            pasts.remove(process);
            return;
        }
        boolean writes = kind == Kind.FILE_IO && number(row, Column.BYTES_WRITTEN) > 0
                || kind == Kind.FILE_OPEN && (row.has(Column.CREATED) || (number(row, Column.FLAGS) & 3) != 0)
                || kind.code() >= Kind.FILE_RENAME.code() && kind.code() <= Kind.FILE_ALLOCATE.code();
        if (writes && number(row, Column.RET) >= 0 && !unpacking.containsKey(process)) {
            for (Column column : List.of(Column.PATH, Column.PATH_TO)) {
                if (row.has(column)) {
                    String path = text(row, column);
                    paths.merge(path, past, Past::and);
                    written.put(path, true);
                }
            }
        }
    }

    /// What led to the candidate at that event.
    Past past(long index) {
        return found.getOrDefault(index, Past.NOTHING);
    }

    /// Whether something in the run wrote that path before the scan's end.
    boolean isWritten(String path) {
        return written.containsKey(path);
    }

    /// Events that say that others are missing, from the beginning.
    List<Gap> gaps() {
        return gaps;
    }

    /// Indexes of requests that a replay's network did not answer.
    List<Long> misses() {
        return misses;
    }

    private static long id(long pid, long startNs) {
        return startNs << 22 ^ startNs >>> 42 ^ pid;
    }

    private static long number(Row row, Column column) {
        return row.has(column) ? row.number(column) : 0;
    }

    private static String text(Row row, Column column) {
        return row.has(column) ? row.text(column).toString() : "";
    }
}
