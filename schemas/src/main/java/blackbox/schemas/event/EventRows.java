package blackbox.schemas.event;

import blackbox.schemas.Hash;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Turns events into rows. The length of a leaf is limited ([LeafCodec#BYTES_MAX]): what does not fit is cut,
/// environment first, then arguments, then paths, and marked with its original size.
public final class EventRows {

    /// Room for everything in a leaf except its lists and texts.
    private static final int OVERHEAD_BYTES = 2_048;

    private static final int TEXTS_BYTES_MAX = LeafCodec.BYTES_MAX - OVERHEAD_BYTES;
    private static final int TEXT_BYTES_MAX = 8_192;

    /// Octets in front of a list, and of each of its elements: a varint below 2^21.
    private static final int LIST_ENTRY_BYTES = 3;

    private static final Text AGENT = Text.of(Actor.AGENT.actorName());
    private static final Text SUPERVISOR = Text.of(Actor.SUPERVISOR.actorName());

    private EventRows() {}

    /// Fills `row` with `event`, after clearing it.
    public static void fill(Event event, Row row) {
        row.clear();
        row.set(Column.KIND, event.kind().code());
        var out = new Filler(row);
        out.header(event.header());
        fields(event, out);
        out.seen(event.header().origin());
        out.marks(event.header().marks());
    }

    private static void fields(Event event, Filler out) {
        switch (event) {
            case Event.ProcessExec e -> out.exec(e);
            case Event.ProcessFork e -> out.number(Column.PARENT_START_NS, e.parentStartNs());
            case Event.ProcessExit e -> out.ended(e.exitCode(), e.signal());
            case Event.ProcessRunning e -> out.text(Column.EXE, e.exe());
            case Event.ProcessSignal e -> out.number(Column.SIGNAL, e.signal()).said(e.what(), e.detail());
            case Event.ProcessContainer e -> out.path(e.root()).said(null, e.detail());
            case Event.FileOpen e -> out.open(e);
            case Event.FileClose e -> out.path(e.path()).number(Column.RET, e.ret());
            case Event.FileIo e -> out.io(e);
            case Event.FileChange e -> out.change(e);
            case Event.FileXattr e -> out.attribute(e);
            case Event.FileAllocate e ->
                out.path(e.path())
                        .number(Column.FLAGS, e.end())
                        .number(Column.RET, e.ret())
                        .said(e.mode().text(), null);
            case Event.FileMap e ->
                out.path(e.path()).number(Column.FLAGS, e.protection().bits()).number(Column.RET, e.ret());
            case Event.NetCall e ->
                out.net(e.protocol(), e.local(), e.remote()).path(e.path()).number(Column.RET, e.ret());
            case Event.NetSyn e ->
                out.net(e.protocol(), e.local(), e.remote())
                        .number(Column.FLAGS, e.sequence())
                        .text(Column.EXE, e.exe())
                        .number(Column.RET, 0L);
            case Event.NetFlow e -> out.flow(e);
            case Event.DnsQuery e -> out.dns(e);
            case Event.CredChange e -> out.cred(e);
            case Event.PrivilegeUse e ->
                out.path(e.path()).number(Column.RET, e.ret()).said(e.what(), e.detail());
            case Event.RecorderLoss e -> out.number(Column.LOST, e.lost()).said(e.what(), e.detail());
            case Event.RecorderHeartbeat e -> out.heartbeat(e);
            case Event.TracerHeartbeat e -> out.said(null, e.detail());
            case Event.RecorderFinding e -> out.said(e.detail().finding().name(), FindingJson.write(e.detail()));
            case Event.Detection e -> out.said(e.what(), e.detail());
            case Event.TracerReady e -> out.said(null, e.detail());
            case Event.VmLifecycle e -> out.said(e.what(), e.detail());
            case Event.AgentStart e -> out.said(null, e.detail());
            case Event.AgentExit e -> out.ended(e.exitCode(), e.signal());
            case Event.VmCapture e -> out.said(e.what(), e.detail());
            case Event.NetMiss e -> out.said(e.what(), e.detail());
            case Event.EgressDecision e ->
                out.net(e.protocol(), e.local(), e.remote())
                        .text(Column.HOST, e.host())
                        .said(e.verdict(), e.detail());
            case Event.HttpExchange e ->
                out.net("tcp", e.local(), e.remote())
                        .text(Column.HOST, e.host())
                        .number(Column.BYTES_OUT, e.bytesOut())
                        .number(Column.BYTES_IN, e.bytesIn())
                        .said(e.what(), e.detail());
            case Event.EgressSecret e ->
                out.net("tcp", e.local(), e.remote())
                        .text(Column.HOST, e.host())
                        .said(e.what(), e.detail());
            case Event.AgentCall e ->
                out.net("tcp", e.local(), e.remote())
                        .text(Column.HOST, e.host())
                        .text(Column.WHAT, e.what())
                        .said(null, e.detail());
            case Event.Control e -> out.said(e.what(), e.detail());
            case Event.Access e ->
                out.net("tcp", null, e.remote())
                        .text(Column.HOST, e.subject())
                        .number(Column.BYTES_OUT, e.bytes())
                        .said(e.what(), e.detail());
            case Event.EgressPolicy e -> out.said(e.digest(), e.detail());
            case Event.RunOpen e -> out.text(Column.WHAT, e.name()).said(null, e.detail());
            case Event.RunClose e ->
                out.number(Column.EVENTS, e.events())
                        .number(Column.LOST, e.lost())
                        .ended(e.exitCode(), e.signal())
                        .said(null, e.detail());
        }
    }

    /// Sets the values that are not null, cutting and marking those that do not fit.
    private static final class Filler {

        private final Row row;
        private final Map<String, Long> cut = new TreeMap<>();
        private int room = TEXTS_BYTES_MAX;

        Filler(Row row) {
            this.row = row;
        }

        void header(EventHeader header) {
            row.set(Column.AT_NS, header.atNs());
            row.set(Column.SOURCE, header.source().code());
            GuestOrigin origin = header.origin();
            if (origin != null) {
                row.set(Column.CPU, origin.cpu()).set(Column.CPU_SEQ, origin.cpuSeq());
                if (origin.container() != 0) {
                    row.set(Column.CONTAINER, origin.container());
                }
                Actor actor = origin.actor();
                if (actor != null) {
                    text(Column.ACTOR, actor == Actor.AGENT ? AGENT : SUPERVISOR);
                }
            }
            ProcessRef process = header.process();
            if (process == null) {
                return;
            }
            row.set(Column.PID, process.pid()).set(Column.START_NS, process.startNs());
            if (process.tid() != process.pid()) {
                row.set(Column.TID, process.tid());
            }
            number(Column.PPID, process.ppid());
            number(Column.UID, process.uid());
            text(Column.COMM, process.comm());
        }

        void exec(Event.ProcessExec e) {
            text(Column.EXE, e.exe()).text(Column.CWD, e.cwd()).number(Column.RET, e.ret());
            list(Column.ARGV, "argv", e.argv());
            list(Column.ENV, "env", e.env());
        }

        void open(Event.FileOpen e) {
            path(e.path())
                    .number(Column.FLAGS, e.flags())
                    .number(Column.MODE, e.mode())
                    .number(Column.RET, e.ret());
            if (e.created()) {
                row.set(Column.CREATED, 1);
            }
        }

        void io(Event.FileIo e) {
            path(e.path());
            row.set(Column.BYTES_READ, e.bytesRead()).set(Column.BYTES_WRITTEN, e.bytesWritten());
            row.set(Column.READS, e.reads()).set(Column.WRITES, e.writes());
            number(Column.OFFSET_FIRST, e.offsetFirst()).number(Column.OFFSET_LAST, e.offsetLast());
            number(Column.RET, e.ret());
        }

        void change(Event.FileChange e) {
            path(e.path()).text(Column.PATH_TO, e.pathTo()).number(Column.MODE, e.mode());
            number(Column.UID_TO, e.uid()).number(Column.GID_TO, e.gid());
            number(Column.FLAGS, e.size()).number(Column.RET, e.ret());
        }

        void attribute(Event.FileXattr e) {
            path(e.path()).text(Column.WHAT, e.name()).number(Column.RET, e.ret());
            if (e.removed()) {
                row.set(Column.FLAGS, 1);
            }
            said(null, e.detail());
        }

        void flow(Event.NetFlow e) {
            net(e.protocol(), e.local(), e.remote()).text(Column.HOST, e.host());
            row.set(Column.BYTES_OUT, e.bytesOut()).set(Column.BYTES_IN, e.bytesIn());
            number(Column.PACKETS_OUT, e.packetsOut()).number(Column.PACKETS_IN, e.packetsIn());
            said(e.what(), null);
        }

        void dns(Event.DnsQuery e) {
            net(e.protocol(), e.local(), e.remote()).text(Column.HOST, e.name());
            row.set(Column.DNS_TYPE, e.type());
            if (!e.answers().isEmpty()) {
                list(Column.ANSWERS, "answers", e.answers());
            }
        }

        void cred(Event.CredChange e) {
            row.set(Column.UID, e.uid()).set(Column.UID_TO, e.uidTo());
            row.set(Column.GID, e.gid()).set(Column.GID_TO, e.gidTo());
            number(Column.CAPS, e.caps()).number(Column.CAPS_TO, e.capsTo());
        }

        void heartbeat(Event.RecorderHeartbeat e) {
            row.set(Column.BATCH, e.batch()).set(Column.EVENTS, e.events()).set(Column.LOST, e.lost());
            row.set(Column.PREVIOUS, e.previous().toBytes(), 0, Hash.LENGTH);
            said(null, e.detail());
        }

        Filler ended(@Nullable Integer exitCode, @Nullable Integer signal) {
            return number(Column.EXIT_CODE, exitCode).number(Column.SIGNAL, signal);
        }

        Filler net(String protocol, @Nullable Endpoint local, @Nullable Endpoint remote) {
            row.set(Column.PROTOCOL, protocol);
            if (local != null) {
                row.set(Column.LOCAL_IP, local.ip()).set(Column.LOCAL_PORT, local.port());
            }
            if (remote != null) {
                row.set(Column.REMOTE_IP, remote.ip()).set(Column.REMOTE_PORT, remote.port());
            }
            return this;
        }

        Filler said(@Nullable String what, @Nullable String detail) {
            if (what != null) {
                text(Column.WHAT, Text.of(what));
            }
            if (detail != null) {
                fit(Column.DETAIL, Text.of(detail), room);
            }
            return this;
        }

        /// Where the event has no detail of its own.
        void seen(@Nullable GuestOrigin origin) {
            if (origin != null && !row.has(Column.DETAIL)) {
                said(null, origin.seen());
            }
        }

        Filler path(@Nullable Text path) {
            return text(Column.PATH, path);
        }

        Filler number(Column column, @Nullable Number value) {
            if (value != null) {
                row.set(column, value.longValue());
            }
            return this;
        }

        Filler text(Column column, @Nullable Text text) {
            if (text != null) {
                fit(column, text, TEXT_BYTES_MAX);
            }
            return this;
        }

        private void fit(Column column, Text text, int bytesMax) {
            Text whole = text;
            if (text.length() > bytesMax) {
                whole = Text.copyOf(text.toBytes(), 0, bytesMax);
                cut.put(column.columnName(), (long) text.length());
            }
            room -= whole.length();
            row.set(column, whole);
        }

        private void list(Column column, String name, @Nullable List<Text> elements) {
            if (elements == null) {
                return;
            }
            long total = 0;
            boolean whole = true;
            var kept = new ArrayList<Text>(elements.size());
            int left = room - LIST_ENTRY_BYTES;
            for (Text element : elements) {
                total += element.length() + 1L;
                int fits = Math.min(element.length(), left - LIST_ENTRY_BYTES);
                if (whole && fits >= 0) {
                    kept.add(fits == element.length() ? element : Text.copyOf(element.toBytes(), 0, fits));
                    left -= fits + LIST_ENTRY_BYTES;
                }
                whole &= fits == element.length();
            }
            if (!whole) {
                cut.put(name, total);
            }
            room = Math.max(left, 0);
            row.set(column, kept);
        }

        void marks(Marks marks) {
            var all = new TreeMap<>(cut);
            marks.truncated().forEach((name, size) -> all.merge(name, size, Math::max));
            if (!all.isEmpty()) {
                row.set(
                        Column.TRUNCATED,
                        all.entrySet().stream()
                                .map(mark -> Text.of(mark.getKey() + "=" + mark.getValue()))
                                .toList());
            }
            if (!marks.unread().isEmpty()) {
                row.set(Column.UNREAD, marks.unread().stream().map(Text::of).toList());
            }
        }
    }
}
