package blackbox.replay.divergence.strand;

import blackbox.query.answer.EventLine;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Kind;
import blackbox.schemas.net.DnsMessage;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.NetView;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Single events of one side, by index, in words. Owned by one thread.
public final class EventLookup {

    private static final int LINE_CHARS_MAX = 240;

    /// How far back to search for each event of context: there are few others between compared events.
    private static final int CONTEXT_SPAN = 8;

    private final EventSource source;
    private final EventViews views = new EventViews();

    public EventLookup(EventSource source) {
        this.source = source;
    }

    /// An event, as it is described and compared.
    ///
    /// @param line all of it, in words
    /// @param comm the task's name, or null if it is not known
    /// @param pid of its process; 0 if it is the host's
    /// @param unseen what the line does not show
    public record Facts(
            Kind kind, long atNs, String line, @Nullable String comm, long pid, Deed deed, UnseenValues unseen) {

        /// The line, with what tells the event from another of the same kind and is not in it.
        public String lineBeside(@Nullable Facts other) {
            return other == null || other.kind != kind ? line : line + unseen.besides(other.unseen, line);
        }

        /// What was done to what, in a word: the path, peer or name, or else whose deed it was.
        public String subject() {
            String subject = deed.subject();
            return subject == null ? who() : subject;
        }

        /// The path, if it is about a file.
        public @Nullable String path() {
            return switch (deed) {
                case Deed.Opened opened -> opened.path();
                case Deed.Transferred transferred -> transferred.path();
                case Deed.Changed changed -> changed.path();
                case Deed.Called _, Deed.Flowed _, Deed.Asked _, Deed.Missed _, Deed.Other _ -> null;
            };
        }

        /// What the line has after its process: names, arguments and numbers.
        public String said() {
            int process = line.indexOf("[" + pid + "]");
            return process < 0
                    ? line
                    : line.substring(process + Long.toString(pid).length() + 2);
        }

        /// `sh[117]`, or `the host`.
        public String who() {
            return pid == 0 ? "the host" : (comm == null ? "?" : comm) + "[" + pid + "]";
        }
    }

    /// The event at `index`, or null if there is none.
    @Nullable
    public Facts facts(long index) throws IOException {
        if (index < 0) {
            return null;
        }
        try (EventCursor cursor = source.open(index)) {
            return cursor.next() && cursor.index() == index ? facts(index, views.of(cursor.row())) : null;
        }
    }

    private static @Nullable Facts facts(long index, EventView event) {
        Kind kind = event.kind();
        Text comm = event.comm();
        if (kind == null) {
            return null;
        }
        Deed deed = Deed.of(event);
        String line = line(index, event.row());
        return new Facts(
                kind,
                event.atNs(),
                deed instanceof Deed.Missed missed ? line + "  " + missed.peer() + ": " + missed.why() : line,
                comm == null ? null : comm.toString(),
                event.pid(),
                deed,
                UnseenValues.of(event.row()));
    }

    private static String line(long index, Row row) {
        String line = EventLine.format(index, row).strip();
        return line.length() <= LINE_CHARS_MAX ? line : line.substring(0, LINE_CHARS_MAX - 1) + "…";
    }

    /// The request at `index` that a replay got no answer to, as one JSON object; null if that event is of another
    /// kind.
    public @Nullable String missed(long index) throws IOException {
        try (EventCursor cursor = source.open(index)) {
            boolean there = cursor.next() && cursor.index() == index;
            Text detail = there && views.of(cursor.row()) instanceof NetView.Miss miss ? miss.detail() : null;
            return detail == null ? null : detail.toString();
        }
    }

    /// Whether the event at `index` is the opening or end of a connection to one of these, or looks up its name.
    public boolean isAbout(long index, AgreedPeers agreed) throws IOException {
        try (EventCursor cursor = source.open(index)) {
            boolean there = cursor.next() && cursor.index() == index;
            return there && views.of(cursor.row()) instanceof NetView event && isAbout(event, agreed);
        }
    }

    private static boolean isAbout(NetView event, AgreedPeers agreed) {
        Text ip = event.remoteIp();
        Long port = event.remotePort();
        if (ip == null || port == null) {
            return false;
        }
        var remote = new Endpoint(ip.toString(), port.intValue());
        boolean connects = event instanceof NetView.Connect || event instanceof NetView.Flow;
        Set<String> names = agreed.resolvers().get(remote);
        return switch (String.valueOf(event.protocol())) {
            case "tcp" -> connects && agreed.peers().contains(remote);
            case "udp" -> names != null && (connects || event instanceof NetView.Send || isAbout(event, names));
            default -> false;
        };
    }

    private static boolean isAbout(NetView event, Set<String> names) {
        if (!(event instanceof NetView.Dns question)) {
            return false;
        }
        Long type = question.type();
        return type != null && DnsMessage.isAddress(type) && names.contains(String.valueOf(question.name()));
    }

    /// How many calls to a peer there are.
    public long calls(String ip, long port) throws IOException {
        return calls(ip, port, Long.MAX_VALUE).count();
    }

    /// Index of the call to a peer that is the `number`th one, counted from 1, or of the last one; -1 if there
    /// is none.
    public long call(String ip, long port, long number) throws IOException {
        return calls(ip, port, number).last();
    }

    private record Calls(long count, long last) {}

    private Calls calls(String ip, long port, long most) throws IOException {
        var peer = new Deed.Peer(ip, port);
        long count = 0;
        long last = -1;
        try (EventCursor cursor = source.open(0)) {
            while (count < most && cursor.next()) {
                EventView event = views.of(cursor.row());
                boolean calls = event instanceof NetView.Connect || event instanceof NetView.Send;
                if (calls && Deed.of(event) instanceof Deed.Called call && peer.equals(call.peer())) {
                    count++;
                    last = cursor.index();
                }
            }
        }
        return new Calls(count, last);
    }

    /// The event at `index` with `around` compared events before and after it.
    public List<String> context(long index, int around) throws IOException {
        Deque<String> before = new ArrayDeque<>();
        var lines = new ArrayList<String>();
        long from = Math.max(0, index - (long) around * CONTEXT_SPAN);
        int behind = 0;
        try (EventCursor cursor = source.open(from)) {
            while (behind < around + 1 && cursor.next()) {
                Row row = cursor.row();
                boolean compared = Lineage.isCompared(views.of(row));
                if (cursor.index() >= index && (cursor.index() == index || compared)) {
                    lines.add(line(cursor.index(), row));
                    behind++;
                } else if (compared && around > 0) {
                    if (before.size() == around) {
                        before.remove();
                    }
                    before.add(line(cursor.index(), row));
                }
            }
        }
        lines.addAll(0, before);
        return lines;
    }
}
