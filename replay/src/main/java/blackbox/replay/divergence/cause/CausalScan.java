package blackbox.replay.divergence.cause;

import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.replay.divergence.strand.Lineage;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads one side again and propagates what may have led to what: from parent to child, from a child's end to its
/// parent, from the writer of a path to its opener, from the connecting side to the accepting one.
///
/// Memory: the history of each process and of the last [#PATHS_MAX] paths. Owned by one thread.
public final class CausalScan {

    private static final int PATHS_MAX = 65_536;
    private static final int GAPS_MAX = 16;

    private static final Set<String> CLOCKS = Set.of("date", "hwclock", "uptime", "timedatectl", "cal");
    private static final Set<String> CLOCK_FILES =
            Set.of("/etc/localtime", "/proc/uptime", "/dev/rtc", "/dev/rtc0", "/proc/driver/rtc");
    private static final Set<String> RANDOMS = Set.of("shuf", "uuidgen", "openssl", "pwgen");
    static final Set<String> RANDOM_FILES =
            Set.of("/dev/urandom", "/dev/random", "/dev/hwrng", "/proc/sys/kernel/random/uuid");

    private static final List<String> NO_INPUTS =
            List.of("/proc/", "/sys/", "proc[", "sysfs[", "/dev/", "/usr/", "/lib", "/bin/", "/etc/ld.so");

    /// A flow that differs; whoever connected to its remote end depends on it.
    public record Watched(String remoteIp, long remotePort, long localPort, long bit) {}

    /// An event that says that others are missing.
    record Gap(long index, String what, long lost) {}

    private final Map<Long, Long> candidates;
    private final List<Watched> flows;
    private final Map<Long, CausalHistory> found = new HashMap<>();
    private final Map<Long, CausalHistory> histories = new HashMap<>();
    private final Map<Long, Long> parents = new HashMap<>();
    private final Map<Long, Long> births = new HashMap<>();
    private final List<Gap> gaps = new ArrayList<>();
    private final List<Long> misses = new ArrayList<>();
    private final HttpAnswers answers = new HttpAnswers();
    private final Map<String, CausalHistory> paths = bounded();
    private final Map<String, Boolean> written = bounded();
    private final Map<Long, CausalHistory> ports = new HashMap<>();
    private final Map<Long, Boolean> unpacking = new HashMap<>();

    /// @param candidates event index to bit
    public CausalScan(Map<Long, Long> candidates, List<Watched> flows) {
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

    /// Reads up to the event at `until` and from there to the next heartbeat of the tracer, which would
    /// report losses, or to the end.
    public CausalScan scan(EventSource source, long until) throws IOException {
        var views = new EventViews();
        try (EventCursor cursor = source.open(0)) {
            while (cursor.next()) {
                EventView event = views.of(cursor.row());
                see(event, cursor.index());
                if (event instanceof RecorderView.TracerHeartbeat && cursor.index() > until) {
                    break;
                }
            }
        }
        return this;
    }

    private void see(EventView event, long index) {
        switch (event) {
            case RecorderView.Loss loss -> gap(loss.what(), index, loss.lost());
            case RecorderView.Noticed noticed -> {
                if (noticed.meansMissing()) {
                    gap(noticed.what(), index, 0);
                }
            }
            case NetView.Miss _ -> misses.add(index);
            case NetView.Exchange exchange -> answers.see(exchange, index);
            case ProcessView _,
                    FileView _,
                    NetView _,
                    PrivilegeView _,
                    RecorderView _,
                    VmView _,
                    RunView _,
                    EventView.Unknown _ -> {}
        }
        Row row = event.row();
        if (!row.has(Column.PID) || !Lineage.isCompared(event)) {
            candidate(index, null);
            return;
        }
        long process = id(row.number(Column.PID), number(row, Column.START_NS));
        if (event instanceof ProcessView.Fork) {
            long parent = id(number(row, Column.PPID), number(row, Column.PARENT_START_NS));
            parents.put(process, parent);
            births.put(process, index);
            histories.put(process, histories.getOrDefault(parent, CausalHistory.NOTHING));
        }
        learn(event, index, process);
        candidate(index, process);
        tell(event, index, process);
    }

    private void gap(@Nullable Text what, long index, long lost) {
        String name = what == null ? "?" : what.toString();
        if (gaps.size() < GAPS_MAX) {
            gaps.add(new Gap(index, name, lost));
        }
    }

    private void candidate(long index, @Nullable Long process) {
        Long bit = candidates.get(index);
        if (bit == null) {
            return;
        }
        CausalHistory before =
                process == null ? CausalHistory.NOTHING : histories.getOrDefault(process, CausalHistory.NOTHING);
        found.put(index, before);
        if (process != null) {
            histories.put(process, before.withDivergence(bit));
        }
    }

    /// The inputs of the event.
    private void learn(EventView event, long index, long process) {
        CausalHistory history = histories.getOrDefault(process, CausalHistory.NOTHING);
        Row row = event.row();
        CausalHistory now = switch (event) {
            case ProcessView.Exec _ -> executed(row, index, process, history);
            case FileView file -> reads(file, index, history);
            case NetView.Connect _, NetView.Send _ -> connects(row, index, history);
            case NetView.Accept _ ->
                history.and(ports.getOrDefault(number(row, Column.LOCAL_PORT), CausalHistory.NOTHING));
            case NetView.Dns _ -> history.withNetwork(index);
            case ProcessView _, NetView _, PrivilegeView _, RecorderView _, VmView _, RunView _, EventView.Unknown _ ->
                history;
        };
        histories.put(process, now);
    }

    private CausalHistory executed(Row row, long index, long process, CausalHistory history) {
        String exe = text(row, Column.EXE);
        String program = exe.substring(exe.lastIndexOf('/') + 1);
        if (number(row, Column.RET) < 0) {
            return history;
        }
        if (program.equals("tar") && row.has(Column.PPID) && row.number(Column.PPID) == 1) {
            unpacking.put(process, true);
        }
        CausalHistory now = history.and(paths.getOrDefault(exe, CausalHistory.NOTHING));
        if (!written.containsKey(exe) && !isNoInput(exe)) {
            now = now.withFile(exe, index);
        }
        if (CLOCKS.contains(program)) {
            now = now.withClock(index);
        }
        return RANDOMS.contains(program) ? now.withRandom(index) : now;
    }

    /// Whether a program whose purpose is random numbers was started.
    static boolean isRandom(ProcessView.Exec exec) {
        String exe = text(exec.row(), Column.EXE);
        return RANDOMS.contains(exe.substring(exe.lastIndexOf('/') + 1));
    }

    private CausalHistory reads(FileView file, long index, CausalHistory history) {
        String path = text(file.row(), Column.PATH);
        if (!takesIn(file)) {
            return history;
        }
        if (RANDOM_FILES.contains(path)) {
            return history.withRandom(index);
        }
        if (CLOCK_FILES.contains(path)) {
            return history.withClock(index);
        }
        CausalHistory now = history.and(paths.getOrDefault(path, CausalHistory.NOTHING));
        boolean read = file instanceof FileView.Io io
                ? io.bytesRead() > 0
                : file instanceof FileView.Open open && open.isForReading();
        if (!read || file.failed() || isNoInput(path)) {
            return now;
        }
        return written.containsKey(path) ? now.withUsed(path, index) : now.withFile(path, index);
    }

    /// Whether what the process does next can depend on what is at the path.
    private static boolean takesIn(FileView file) {
        return switch (file) {
            case FileView.Open _,
                    FileView.Io _,
                    FileView.Close _,
                    FileView.Unlink _,
                    FileView.Rename _,
                    FileView.Mkdir _ -> true;
            case FileView.Rmdir _,
                    FileView.Symlink _,
                    FileView.Link _,
                    FileView.Mknod _,
                    FileView.Chmod _,
                    FileView.Chown _,
                    FileView.Utime _,
                    FileView.Chattr _,
                    FileView.Xattr _,
                    FileView.Truncate _,
                    FileView.Allocate _,
                    FileView.Mmap _ -> false;
        };
    }

    /// The kernel's own files, and what every program opens when it starts, which belongs to the image.
    private static boolean isNoInput(String path) {
        return NO_INPUTS.stream().anyMatch(path::startsWith);
    }

    private CausalHistory connects(Row row, long index, CausalHistory history) {
        String ip = text(row, Column.REMOTE_IP);
        long port = number(row, Column.REMOTE_PORT);
        if (IpAddress.isLoopback(ip)) {
            ports.merge(port, history, CausalHistory::and);
            return history;
        }
        CausalHistory now = ip.isEmpty() ? history : history.withNetwork(index);
        for (Watched flow : flows) {
            boolean same = flow.remoteIp().equals(ip) && flow.remotePort() == port;
            long local = number(row, Column.LOCAL_PORT);
            if (same && (local == 0 || flow.localPort() == 0 || local == flow.localPort())) {
                now = now.withDivergence(flow.bit());
            }
        }
        return now;
    }

    /// The outputs of the event.
    private void tell(EventView event, long index, long process) {
        CausalHistory history = histories.getOrDefault(process, CausalHistory.NOTHING);
        if (event instanceof ProcessView.Exit) {
            Long parent = parents.remove(process);
            Long birth = births.remove(process);
            if (parent != null) {
                CausalHistory told = history.toldSince(birth == null ? -1 : birth, index);
                histories.merge(parent, told, CausalHistory::and);
            }
            histories.remove(process);
            return;
        }
        if (!(event instanceof FileView file) || unpacking.containsKey(process)) {
            return;
        }
        if (file.mayChange()) {
            wrote(file.path(), history);
        }
        if (file instanceof FileView.ToName leads && !leads.effectsThere().isEmpty()) {
            wrote(leads.pathTo(), history);
        }
    }

    private void wrote(@Nullable Text path, CausalHistory history) {
        if (path != null) {
            paths.merge(path.toString(), history, CausalHistory::and);
            written.put(path.toString(), true);
        }
    }

    /// What led to the candidate at that event.
    public CausalHistory historyOf(long index) {
        return found.getOrDefault(index, CausalHistory.NOTHING);
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

    /// What the side was answered over HTTP.
    HttpAnswers answers() {
        return answers;
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
