package blackbox.query.why;

import blackbox.query.answer.EventLine;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.Counts;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileEffect;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Gathers what followed from one tool use. Owned by one thread.
final class ToolEffects {

    /// How many of each sort one answer lists.
    static final int LISTED_MAX = 1000;

    /// How many of each sort are kept of one tool use, where only that one or those of a call are asked about.
    static final int KEPT_MAX = 20_000;

    private final Connections connections;
    private final int keptMax;
    private final List<Caused.Program> execs = new ArrayList<>();
    private final Map<String, FileUse> files = new LinkedHashMap<>();
    private final Map<String, Seen> peers = new LinkedHashMap<>();
    private final Map<String, Seen> privileges = new LinkedHashMap<>();
    private final Map<String, Seen> mcpCalls = new LinkedHashMap<>();
    private final Set<String> doubts = new TreeSet<>();
    private @Nullable Grade best;
    private long leftOff;

    private static final class FileUse {
        final long index;
        final Set<FileEffect> effects = EnumSet.noneOf(FileEffect.class);
        Grade grade;
        long bytesRead;
        long bytesWritten;

        FileUse(long index, Grade grade) {
            this.index = index;
            this.grade = grade;
        }
    }

    /// Several events that say the same.
    private static final class Seen {
        final long index;
        final String kind;
        final List<String> names;
        Grade grade;
        long count;

        Seen(long index, Grade grade, String kind, List<String> names) {
            this.index = index;
            this.grade = grade;
            this.kind = kind;
            this.names = names;
        }
    }

    /// @param keptMax how many of each sort are kept; all count
    ToolEffects(Connections connections, int keptMax) {
        this.connections = connections;
        this.keptMax = keptMax;
    }

    /// Takes an event that followed from it.
    void see(EventView event, long index, Tie tie) {
        boolean counts = switch (event) {
            case ProcessView.Exec exec -> exec(exec, index, tie.grade());
            case FileView file -> file(file, index, tie.grade());
            case NetView.Connect call -> peer(call, index, tie.grade());
            case NetView.Send call -> peer(call, index, tie.grade());
            case NetView.Exchange exchange -> peer(exchange, index, tie.grade());
            case NetView.McpCall call ->
                seen(
                        mcpCalls,
                        call,
                        index,
                        tie.grade(),
                        Act.of(call, connections).mcpName());
            case PrivilegeView use -> seen(privileges, use, index, tie.grade(), EventLine.what(use.row()));
            case ProcessView _, NetView _, RecorderView _, VmView _, RunView _, EventView.Unknown _ -> false;
        };
        if (counts) {
            best = best == null || tie.grade().compareTo(best) < 0 ? tie.grade() : best;
            doubts.addAll(tie.doubts());
        }
    }

    private boolean exec(ProcessView.Exec exec, long index, Grade grade) {
        if (exec.failed()) {
            return false;
        }
        if (execs.size() < keptMax) {
            execs.add(program(exec, index, grade));
        } else {
            leftOff++;
        }
        return true;
    }

    static Caused.Program program(ProcessView.Exec exec, long index, @Nullable Grade grade) {
        return new Caused.Program(index, exec.atNs(), grade, exec.pid(), EventLine.what(exec.row()));
    }

    private boolean file(FileView file, long index, Grade grade) {
        boolean did = file(file, file.path(), file.effects(), index, grade);
        if (file instanceof FileView.ToName named) {
            did |= file(file, named.pathTo(), named.effectsThere(), index, grade);
        }
        return did;
    }

    private boolean file(FileView event, @Nullable Text path, Set<FileEffect> effects, long index, Grade grade) {
        if (path == null || effects.isEmpty() || !FileView.isFile(path)) {
            return false;
        }
        FileUse use = files.get(path.toString());
        if (use == null) {
            if (files.size() >= keptMax) {
                leftOff++;
                return true;
            }
            use = new FileUse(index, grade);
            files.put(path.toString(), use);
        }
        use.effects.addAll(effects);
        use.grade = grade.compareTo(use.grade) < 0 ? grade : use.grade;
        if (event instanceof FileView.Io io) {
            use.bytesRead = Counts.sum(use.bytesRead, io.bytesRead());
            use.bytesWritten = Counts.sum(use.bytesWritten, io.bytesWritten());
        }
        return true;
    }

    private boolean peer(NetView call, long index, Grade grade) {
        Text ip = call.remoteIp();
        Long port = call.remotePort();
        if (ip == null) {
            return false;
        }
        String address = ip.toString().indexOf(':') < 0 ? ip.toString() : "[" + ip + "]";
        return seen(peers, call, index, grade, call.protocol() + " " + address + (port == null ? "" : ":" + port));
    }

    private boolean seen(Map<String, Seen> all, EventView event, long index, Grade grade, String what) {
        Seen seen = all.get(what);
        if (seen == null) {
            if (all.size() >= keptMax) {
                leftOff++;
                return true;
            }
            List<String> names =
                    event instanceof NetView net ? List.copyOf(connections.names(net.remoteIp())) : List.of();
            String kind = event.kind() == null ? "unknown" : event.kind().eventName();
            seen = new Seen(index, grade, kind, names);
            all.put(what, seen);
        }
        seen.count++;
        seen.grade = grade.compareTo(seen.grade) < 0 ? grade : seen.grade;
        return true;
    }

    /// What was gathered: the surest first, changes before what was only read.
    Caused.OfTool of(ToolUse tool) {
        List<Caused.Program> programs =
                listed(execs, Comparator.comparing((Caused.Program each) -> String.valueOf(each.grade())));
        List<Caused.File> used = new ArrayList<>();
        files.forEach((path, use) -> used.add(
                new Caused.File(path, use.index, use.grade, Set.copyOf(use.effects), use.bytesRead, use.bytesWritten)));
        List<Caused.Peer> called = new ArrayList<>();
        peers.forEach((what, seen) -> {
            int blank = what.indexOf(' ');
            called.add(new Caused.Peer(
                    seen.index,
                    seen.grade,
                    what.substring(0, blank),
                    what.substring(blank + 1),
                    seen.names,
                    seen.count));
        });
        Comparator<Caused.File> order = Comparator.comparing(Caused.File::grade);
        order = order.thenComparing(each -> each.effects().stream().noneMatch(FileEffect::isChange));
        List<Caused.File> listedFiles = listed(used, order);
        List<Caused.Peer> listedPeers = listed(called, Comparator.comparing(Caused.Peer::grade));
        List<Caused.Other> listedPrivileges = listed(others(privileges), Comparator.comparing(Caused.Other::grade));
        List<Caused.Other> listedCalls = listed(others(mcpCalls), Comparator.comparing(Caused.Other::grade));
        return new Caused.OfTool(
                used(tool),
                best != null ? best : tool.hasResult() ? Grade.X : null,
                new Caused.Effects(programs, listedFiles, listedPeers, listedPrivileges, listedCalls, leftOff),
                notes(tool));
    }

    private <T> List<T> listed(List<T> all, Comparator<T> order) {
        leftOff += Math.max(0, all.size() - LISTED_MAX);
        return all.stream().sorted(order).limit(LISTED_MAX).toList();
    }

    private static List<Caused.Other> others(Map<String, Seen> all) {
        var others = new ArrayList<Caused.Other>();
        all.forEach((what, seen) -> others.add(new Caused.Other(seen.index, seen.grade, seen.kind, what, seen.count)));
        return others;
    }

    private static Caused.Used used(ToolUse tool) {
        return new Caused.Used(
                tool.index,
                tool.turn.index,
                tool.id,
                tool.name,
                Step.asked(tool),
                tool.window,
                tool.broughtBy == null ? null : (Long) tool.broughtBy.index);
    }

    private List<String> notes(ToolUse tool) {
        var notes = new ArrayList<>(doubts);
        switch (tool.window.end()) {
            case BY_PROVIDER -> notes.add("the provider ran it; nothing of it happened in the guest");
            case BEFORE_ASKED -> notes.add("its result was brought before it had been asked for, so it is not its own");
            case RESULT -> {
                if (best == null) {
                    notes.add("it has a result, and nothing that was recorded could have made it");
                }
            }
            case NO_RESULT -> {
                if (best == null) {
                    notes.add("no request brought a result, and nothing that was recorded followed from it");
                }
            }
        }
        return notes;
    }
}
