package blackbox.replay.divergence.strand;

import blackbox.query.answer.EventLine;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.view.EventViews;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Single events of one side, by index, in words.
public final class EventLookup {

    private static final int LINE_CHARS_MAX = 240;

    /// How far back context is looked for: between compared events there are few others.
    private static final int CONTEXT_SPAN = 8;

    private final EventSource source;

    public EventLookup(EventSource source) {
        this.source = source;
    }

    /// An event's process, path and network values, each null or 0 if it has none.
    public record Facts(
            Kind kind,
            long atNs,
            String line,
            @Nullable String path,
            @Nullable String comm,
            long pid,
            long ret,
            long bytesRead,
            long bytesWritten,
            @Nullable String remoteIp,
            long remotePort,
            long localPort,
            long bytesIn,
            long bytesOut,
            @Nullable String what) {

        public boolean failed() {
            return ret < 0;
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
            return cursor.next() && cursor.index() == index ? facts(index, cursor.row()) : null;
        }
    }

    private static @Nullable Facts facts(long index, Row row) {
        Kind kind = row.has(Column.KIND) ? Kind.ofCode(row.number(Column.KIND)) : null;
        return kind == null
                ? null
                : new Facts(
                        kind,
                        number(row, Column.AT_NS),
                        line(index, row),
                        text(row, Column.PATH),
                        text(row, Column.COMM),
                        number(row, Column.PID),
                        number(row, Column.RET),
                        number(row, Column.BYTES_READ),
                        number(row, Column.BYTES_WRITTEN),
                        text(row, Column.REMOTE_IP),
                        number(row, Column.REMOTE_PORT),
                        number(row, Column.LOCAL_PORT),
                        number(row, Column.BYTES_IN),
                        number(row, Column.BYTES_OUT),
                        text(row, Column.WHAT));
    }

    private static String line(long index, Row row) {
        String line = EventLine.format(index, row).strip();
        return line.length() <= LINE_CHARS_MAX ? line : line.substring(0, LINE_CHARS_MAX - 1) + "…";
    }

    private static long number(Row row, Column column) {
        return row.has(column) ? row.number(column) : 0;
    }

    private static @Nullable String text(Row row, Column column) {
        return row.has(column) ? row.text(column).toString() : null;
    }

    /// The detail of the event at `index`, or null if it has none.
    public @Nullable String detail(long index) throws IOException {
        try (EventCursor cursor = source.open(index)) {
            return cursor.next() && cursor.index() == index ? text(cursor.row(), Column.DETAIL) : null;
        }
    }

    /// How many calls to a peer there are.
    public long calls(String ip, long port) throws IOException {
        return calls(ip, port, Long.MAX_VALUE).count();
    }

    /// Index of the call to a peer that is the `number`th one, counted from 1, or of the last one; -1 if there is none.
    public long call(String ip, long port, long number) throws IOException {
        return calls(ip, port, number).last();
    }

    private record Calls(long count, long last) {}

    private Calls calls(String ip, long port, long most) throws IOException {
        long count = 0;
        long last = -1;
        try (EventCursor cursor = source.open(0)) {
            while (count < most && cursor.next()) {
                Row row = cursor.row();
                long kind = number(row, Column.KIND);
                boolean call = kind == Kind.NET_CONNECT.code() || kind == Kind.NET_SEND.code();
                if (call && number(row, Column.REMOTE_PORT) == port && ip.equals(text(row, Column.REMOTE_IP))) {
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
        var views = new EventViews();
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
