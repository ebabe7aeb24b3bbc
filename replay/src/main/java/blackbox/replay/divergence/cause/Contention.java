package blackbox.replay.divergence.cause;

import blackbox.replay.divergence.cause.Causes.SideEvidence;
import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventLookup;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.ProcessView;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Finds out whether a divergence is that one of two programs that ran side by side came first on one side, and the
/// other
/// one on the other: to a name that one of them changed, to a port, or to the end of a pipe. Reads each side at most
/// twice. Used once, by one thread.
final class Contention {
    private static final int SIGPIPE = 13;
    private static final int ANCESTORS_MAX = 4_096;
    private static final String PORT = "port ";

    private final SideEvidence recorded;
    private final SideEvidence actual;

    Contention(SideEvidence recorded, SideEvidence actual) {
        this.recorded = recorded;
        this.actual = actual;
    }

    /// Two events that came in another order.
    ///
    /// @param words both events on both sides
    record Race(String words) {}

    /// A process.
    private record Who(long pid, long startNs) {
        static Who of(Row row) {
            return new Who(number(row, Column.PID), number(row, Column.START_NS));
        }
    }

    /// What one side did at the divergence.
    ///
    /// @param subject the path or port, null if there is none
    /// @param got what came of it
    private record Act(
            long index,
            Who who,
            long thread,
            String comm,
            long parent,
            @Nullable String subject,
            String got,
            boolean byPipe) {}

    /// The race of which the events at these indexes are the outcome, or null if none was seen.
    @Nullable
    Race find(long index, long actualIndex) throws IOException {
        Act was = index < 0 ? null : act(recorded, index);
        Act is = actualIndex < 0 ? null : act(actual, actualIndex);
        if (was == null || is == null || !was.comm().equals(is.comm())) {
            return null;
        }
        if (was.byPipe() != is.byPipe()) {
            return pipe(was, Ends.of(recorded, was), is, Ends.of(actual, is));
        }
        String subject = was.subject();
        if (subject == null || !isSame(subject, is.subject()) || was.got().equals(is.got())) {
            return null;
        }
        String longer =
                subject.length() >= String.valueOf(is.subject()).length() ? subject : String.valueOf(is.subject());
        return changed(was, is, longer);
    }

    /// A failed call has the path as it was given, which may be relative.
    private static boolean isSame(String path, @Nullable String other) {
        return other != null && (path.equals(other) || path.endsWith("/" + other) || other.endsWith("/" + path));
    }

    private @Nullable Act act(SideEvidence side, long index) throws IOException {
        var views = new EventViews();
        try (EventCursor cursor = side.side().events().open(index)) {
            if (!cursor.next() || cursor.index() != index || !cursor.row().has(Column.PID)) {
                return null;
            }
            EventView event = views.of(cursor.row());
            Row row = cursor.row();
            boolean pipe = event instanceof ProcessView.Exit && number(row, Column.SIGNAL) == SIGPIPE;
            return new Act(
                    index,
                    Who.of(row),
                    number(row, Column.TID),
                    String.valueOf(event.comm()),
                    number(row, Column.PPID),
                    subject(event),
                    got(event),
                    pipe);
        }
    }

    private static @Nullable String subject(EventView event) {
        return switch (event) {
            case FileView file -> text(file.path());
            case NetView.Bind bind when isOfTcp(bind) -> PORT + bind.localPort();
            case NetView.Listen listen -> PORT + listen.localPort();
            case NetView.Connect call
            when IpAddress.isLoopback(String.valueOf(call.remoteIp())) -> PORT + call.remotePort();
            default -> null;
        };
    }

    /// Whether it was to take a certain port, of those that others listen on and connect to.
    private static boolean isOfTcp(NetView.Bind bind) {
        Long port = bind.localPort();
        return port != null && port != 0 && String.valueOf(bind.protocol()).equals("tcp");
    }

    private static String got(EventView event) {
        String octets = event instanceof FileView.Io io ? " " + io.bytesRead() : "";
        return Math.min(0, event.ret()) + octets;
    }

    /// What other programs did to a name or port around the divergence.
    ///
    /// @param before how often each did something like it before, by program and kind
    /// @param last index of the last such event before the divergence, or else the first one after it
    private record Changes(Map<String, Integer> before, Map<String, Long> last) {}

    private @Nullable Race changed(Act was, Act is, String subject) throws IOException {
        Changes one = changes(recorded, was, subject);
        Changes other = changes(actual, is, subject);
        for (Map.Entry<String, Long> each : one.last().entrySet()) {
            Long there = other.last().get(each.getKey());
            int before = one.before().getOrDefault(each.getKey(), 0);
            int beforeThere = other.before().getOrDefault(each.getKey(), 0);
            boolean turned = there != null && each.getValue() < was.index() != there < is.index();
            if (there != null && turned && before != beforeThere) {
                return race("two programs raced for " + subject, was, each.getValue(), is, there);
            }
        }
        return null;
    }

    private Race race(String what, Act was, long index, Act is, long actualIndex) throws IOException {
        return new Race(
                what + ": " + inOrder(recorded, was.index(), index) + "; " + inOrder(actual, is.index(), actualIndex));
    }

    private static String inOrder(SideEvidence side, long one, long other) throws IOException {
        return "in " + side.side().name() + " " + line(side, Math.min(one, other)) + ", then "
                + line(side, Math.max(one, other));
    }

    private static String line(SideEvidence side, long index) throws IOException {
        EventLookup.Facts facts = side.events().facts(index);
        return facts == null ? "?" : facts.line();
    }

    /// Events of processes that lived beside that of the act.
    private static Changes changes(SideEvidence side, Act act, String subject) throws IOException {
        var before = new HashMap<String, Integer>();
        var last = new HashMap<String, Long>();
        Lives lives = Lives.of(side, act.who());
        var views = new EventViews();
        try (EventCursor cursor = side.side().events().open(0)) {
            while (cursor.next()) {
                EventView event = views.of(cursor.row());
                if (!changes(event, subject) || !isBeside(cursor.row(), act, lives)) {
                    continue;
                }
                String key = event.comm() + " " + event.kind();
                if (cursor.index() > act.index()) {
                    last.putIfAbsent(key, cursor.index());
                } else if (!event.failed()) {
                    before.merge(key, 1, Integer::sum);
                    last.put(key, cursor.index());
                }
            }
        }
        return new Changes(before, last);
    }

    /// Whether an event is by another thread, or by a process that lived at the same time and is no kin in a line.
    private static boolean isBeside(Row row, Act act, Lives lives) {
        Who who = Who.of(row);
        return who.equals(act.who()) ? number(row, Column.TID) != act.thread() : lives.areBeside(who);
    }

    /// Whether an event changes what has this name or port, or is an attempt to take it.
    private static boolean changes(EventView event, String subject) {
        if (!event.row().has(Column.PID)) {
            return false;
        }
        return switch (event) {
            case FileView.ToName named -> isSame(subject, text(named.path())) || isSame(subject, text(named.pathTo()));
            case FileView file -> (file.mayChange() || takes(file)) && isSame(subject, text(file.path()));
            case NetView.Bind bind when isOfTcp(bind) -> subject.equals(PORT + bind.localPort());
            case NetView.Listen listen -> subject.equals(PORT + listen.localPort());
            default -> false;
        };
    }

    /// Whether it was to create something where there was nothing, and failed.
    private static boolean takes(FileView file) {
        return file.failed()
                && (file instanceof FileView.Open open && open.isExclusive()
                        || file instanceof FileView.Mkdir
                        || file instanceof FileView.Symlink);
    }

    /// From where to where each process is in the record that lived beside one.
    private static final class Lives {
        private final Map<Who, long[]> lives = new HashMap<>();
        private final Map<Who, Who> parents = new HashMap<>();
        private final Who who;

        private Lives(Who who) {
            this.who = who;
        }

        static Lives of(SideEvidence side, Who who) throws IOException {
            var lives = new Lives(who);
            var views = new EventViews();
            try (EventCursor cursor = side.side().events().open(0)) {
                while (cursor.next()) {
                    lives.see(views.of(cursor.row()), cursor.index());
                }
            }
            return lives;
        }

        private void see(EventView event, long index) {
            Row row = event.row();
            if (event instanceof ProcessView.Fork) {
                Who child = Who.of(row);
                lives.put(child, new long[] {index, Long.MAX_VALUE});
                parents.put(child, new Who(number(row, Column.PPID), number(row, Column.PARENT_START_NS)));
            } else if (event instanceof ProcessView.Exit) {
                lives.computeIfPresent(Who.of(row), (_, life) -> new long[] {life[0], index});
            }
        }

        boolean areBeside(Who other) {
            long[] mine = lives.get(who);
            long[] theirs = lives.get(other);
            return mine != null
                    && theirs != null
                    && !other.equals(who)
                    && mine[0] < theirs[1]
                    && theirs[0] < mine[1]
                    && !isAbove(other, who)
                    && !isAbove(who, other);
        }

        private boolean isAbove(Who above, Who below) {
            Who each = parents.get(below);
            for (int i = 0; each != null && i < ANCESTORS_MAX; i++) {
                if (each.equals(above)) {
                    return true;
                }
                each = parents.get(each);
            }
            return false;
        }
    }

    /// On one side alone a program was ended because nobody read its pipe any more: the sibling that ended last before
    /// it.
    private @Nullable Race pipe(Act was, Ends here, Act is, Ends there) throws IOException {
        String reader = was.byPipe() ? here.lastComm : there.lastComm;
        Long one = was.byPipe() ? (Long) here.last : here.ends.get(reader);
        Long other = is.byPipe() ? (Long) there.last : there.ends.get(reader);
        if (reader == null || one == null || other == null) {
            return null;
        }
        String side = was.byPipe() ? recorded.side().name() : actual.side().name();
        return race(
                was.comm() + " was ended by SIGPIPE in " + side + " alone, where " + reader
                        + " no longer read: the two raced",
                was,
                one,
                is,
                other);
    }

    /// The ends of a process's siblings.
    private static final class Ends {
        private final Map<String, Long> ends = new HashMap<>();
        private long last = -1;
        private @Nullable String lastComm;

        static Ends of(SideEvidence side, Act act) throws IOException {
            var found = new Ends();
            Lives lives = Lives.of(side, act.who());
            var views = new EventViews();
            try (EventCursor cursor = side.side().events().open(0)) {
                while (cursor.next()) {
                    EventView event = views.of(cursor.row());
                    Row row = cursor.row();
                    boolean sibling = event instanceof ProcessView.Exit
                            && number(row, Column.PPID) == act.parent()
                            && lives.areBeside(Who.of(row));
                    if (sibling) {
                        String comm = String.valueOf(event.comm());
                        found.ends.put(comm, cursor.index());
                        if (cursor.index() < act.index()) {
                            found.last = cursor.index();
                            found.lastComm = comm;
                        }
                    }
                }
            }
            return found;
        }
    }

    private static @Nullable String text(@Nullable Text text) {
        return text == null ? null : text.toString();
    }

    private static long number(Row row, Column column) {
        return row.has(column) ? row.number(column) : 0;
    }
}
