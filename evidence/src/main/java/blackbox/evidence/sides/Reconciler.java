package blackbox.evidence.sides;

import blackbox.evidence.verify.LeafDetail;
import blackbox.schemas.event.Finding;
import blackbox.schemas.event.FindingDetail.SidesDiffer;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Compares what left a guest behind an egress gateway with what its processes were seen to begin.
///
/// The host's word of a flow is the gateway's decision on it, one for each connection and each exchange of datagrams,
/// allowed or not, and one for each question about a name; the guest's is `net.syn`, told before a connection's first
/// segment is sent, and of datagrams `net.send`. Each `net.syn` accounts for one decision. Which side is told first
/// does not matter.
///
/// What one side has told and the other has not is judged [#PATIENCE] later by the times in the record, what left the
/// guest not before the guest's tracer has reported past it; all of it at the end. A pure function of the rows in their
/// order: a recorder and each later reader find the same. Owned by one thread, bounded by [#KEPT_MAX] of each.
public final class Reconciler {

    /// After how long what left the guest must have been told by the guest.
    public static final Duration PATIENCE = Duration.ofSeconds(2);

    /// The same for what the guest began, of which the host may be slow to read frames.
    public static final Duration FRAMES_PATIENCE = Duration.ofSeconds(10);

    /// How much is kept of what one side has told, of open connections, of datagrams and of names.
    static final int KEPT_MAX = 65_536;

    private static final String FORGOTTEN = "FORGOTTEN";
    private static final String RUN_ENDED = "RUN_ENDED";
    private static final String OPEN = "open";
    private static final String CLOSED = "closed";

    /// How many connections between the same ends may wait for the host's word.
    private static final int SAME_ENDS_MAX = 16;

    /// The probe that tells of a connection before it is sent.
    private static final String PROBE = "tcp_connect";

    private final EventViews views = new EventViews();
    private final GuestStream guest = new GuestStream();
    private final Differences found = new Differences();

    private final Waiting<Decided> decided = new Waiting<>();
    private final Waiting<Begun> begun = new Waiting<>();

    /// Connections that both sides know and the guest has not closed: the gateway may have given up one of them, and
    /// decides anew when the guest's kernel sends its first segment again.
    private final Recent<Begun> open = new Recent<>(KEPT_MAX);

    /// The last time that a process was told to send datagrams between these ends: index of the event.
    private final Recent<Long> datagrams = new Recent<>(KEPT_MAX);

    /// Connections of which the host has seen frames, and not the end.
    private final Recent<Boolean> frames = new Recent<>(KEPT_MAX);

    private final Set<String> asked = new HashSet<>();
    private @Nullable String namesUnknown;
    private boolean behindGateway;
    private boolean tellsBeginnings;
    private long nowNs = Long.MIN_VALUE;
    private long connections;
    private long exchanges;

    /// The gateway's decision on a connection, an exchange of datagrams or a question.
    private static final class Decided extends Waiting.Told {
        private final @Nullable String host;
        private final boolean isQuestion;
        private final List<Hello> hellos = new ArrayList<>(0);

        Decided(Ends ends, long index, long atNs, @Nullable String host, boolean isQuestion) {
            super(ends, index, atNs);
            this.host = host;
            this.isQuestion = isQuestion;
        }
    }

    /// A connection that the guest's kernel began.
    private static final class Begun extends Waiting.Told {
        private boolean seenByHost;
        private boolean closed;

        Begun(Ends ends, long index, long atNs) {
            super(ends, index, atNs);
        }
    }

    /// What a TLS client said that does not fit where it went.
    private record Hello(long index, @Nullable String host, String serverName) {}

    /// How many flows both sides have told.
    ///
    /// @param connections of TCP
    /// @param exchanges of datagrams, each question about a name counted
    public record Agreed(long connections, long exchanges) {}

    /// Whether it compares: a run without a gateway has nothing to compare with, and an older tracer does not tell of
    /// connections before they are sent.
    public boolean compares() {
        return behindGateway && tellsBeginnings;
    }

    /// How many flows both sides have told so far.
    public Agreed agreed() {
        return new Agreed(connections, exchanges);
    }

    /// How many there were so far of a finding, told or not.
    public long count(Finding finding) {
        return found.count(finding);
    }

    /// The time of the host's last row; the earliest number before it.
    public long nowNs() {
        return nowNs;
    }

    /// Takes the next row, with its index; what follows from it, usually nothing.
    public List<SidesDiffer> see(long index, Row row) {
        return see(index, views.of(row));
    }

    /// The same, of a view.
    public List<SidesDiffer> see(long index, EventView event) {
        Row row = event.row();
        if (event.isByHost()) {
            nowNs = Math.max(nowNs, event.atNs());
        } else if (event.isByGuest()) {
            guest.heard(row, row.has(Column.KIND) ? row.number(Column.KIND) : 0, event.atNs());
        }
        switch (event) {
            case RunView.Open opening -> behindGateway = "gateway".equals(detail(opening, "network"));
            case RecorderView.TracerReady ready ->
                tellsBeginnings = LeafDetail.holds(String.valueOf(ready.detail()), "attached", PROBE);
            case RecorderView.Loss loss -> lost(loss);
            case RecorderView.Noticed noticed -> {
                guest.found(noticed.finding(), String.valueOf(noticed.what()));
                if (noticed.finding() == Finding.DNS_UNREADABLE) {
                    namesUnknown = Finding.DNS_UNREADABLE.name();
                }
            }
            case NetView net -> {
                if (compares()) {
                    net(net, index);
                }
            }
            case ProcessView _,
                    FileView _,
                    PrivilegeView _,
                    RecorderView _,
                    VmView _,
                    RunView _,
                    EventView.Unknown _ -> {}
        }
        judge();
        return found.take();
    }

    /// What is still to be said once all rows but the run's close have been taken.
    public List<SidesDiffer> finish() {
        for (Decided flow = decided.oldest(); flow != null; flow = decided.oldest()) {
            decided.removeOldest();
            String ended = guest.hasPassed(flow.atNs) ? null : Finding.TRACER_UNFINISHED.name();
            withoutGuest(flow, ended);
        }
        for (Begun connection = begun.oldest(); connection != null; connection = begun.oldest()) {
            begun.removeOldest();
            withoutHost(connection, nowNs - connection.atNs < PATIENCE.toNanos() ? RUN_ENDED : null);
        }
        return found.take();
    }

    private static @Nullable String detail(EventView event, String field) {
        Row row = event.row();
        return row.has(Column.DETAIL) ? LeafDetail.text(row.text(Column.DETAIL).toString(), field) : null;
    }

    private void lost(RecorderView.Loss loss) {
        Text detail = loss.detail();
        Long cpu = detail == null ? null : LeafDetail.numbers(detail.toString()).get("cpu");
        guest.lost(loss.lost(), cpu, nowNs);
    }

    private void net(NetView event, long index) {
        switch (event) {
            case NetView.Syn syn when syn.isByGuest() -> begins(syn, index);
            case NetView.Send send when send.isByGuest() -> sends(send, index);
            case NetView.Flow flow when flow.isByGuest() -> moved(flow, index);
            case NetView.Flow flow when flow.isByHost() -> framesOf(flow, index);
            case NetView.Dns query when query.isByGuest() -> asks(query.name());
            case NetView.Decision decision when decision.isByHost() -> decides(decision, index);
            case NetView _ -> {}
        }
    }

    // What the guest tells.

    private void begins(NetView.Syn syn, long index) {
        Ends ends = Ends.ofGuest(syn);
        if (ends == null) {
            return;
        }
        var connection = new Begun(ends, index, syn.atNs());
        Decided flow = decided.take(ends);
        if (flow == null) {
            connection.seenByHost = frames.containsKey(ends);
            if (begun.count(ends) >= SAME_ENDS_MAX) {
                withoutHost(Objects.requireNonNull(begun.take(ends)), FORGOTTEN);
            }
            begun.add(connection);
        } else {
            bothTold(flow, connection);
        }
    }

    private void sends(NetView.Send send, long index) {
        Ends ends = Ends.ofGuest(send);
        if (ends != null) {
            datagrams(ends, index);
        }
    }

    private void datagrams(Ends ends, long index) {
        datagrams.put(ends, index);
        for (Decided flow = decided.take(ends); flow != null; flow = decided.take(ends)) {
            agree(flow, index);
        }
    }

    private void moved(NetView.Flow flow, long index) {
        Ends ends = Ends.ofGuest(flow);
        if (ends == null) {
            return;
        }
        if (!ends.isTcp()) {
            if (flow.bytesOut() > 0) {
                datagrams(ends, index);
            }
        } else if (CLOSED.equals(String.valueOf(flow.ending())) && open.remove(ends) == null) {
            begun.of(ends).forEach(connection -> connection.closed = true);
        }
    }

    private void asks(@Nullable Text name) {
        if (name != null) {
            asks(name.toString());
        }
    }

    private void asks(String name) {
        String known = name.toLowerCase(Locale.ROOT);
        if (asked.size() < KEPT_MAX) {
            asked.add(known);
        } else if (!asked.contains(known)) {
            namesUnknown = FORGOTTEN;
        }
    }

    // What the host tells.

    private void framesOf(NetView.Flow flow, long index) {
        boolean opens = OPEN.equals(String.valueOf(flow.ending()));
        Ends ends = Ends.ofHost(flow);
        if (ends != null && ends.isTcp()) {
            if (opens) {
                frames.put(ends, true);
                begun.of(ends).forEach(connection -> connection.seenByHost = true);
            } else {
                frames.remove(ends);
            }
        }
        if (opens && isForged(flow)) {
            found.add(new SidesDiffer(
                    Finding.SOURCE_FORGED,
                    String.valueOf(flow.protocol()),
                    end(flow.localIp(), flow.localPort()),
                    end(flow.remoteIp(), flow.remotePort()),
                    null,
                    null,
                    null,
                    index,
                    null,
                    0));
        }
    }

    /// Of IPv4 only: there is no IPv6 behind a gateway but what hosts tell their neighbours, and all else is told by
    /// the gateway itself. Without an address a host asks for one.
    private static boolean isForged(NetView.Flow flow) {
        String local = Ends.local(flow);
        return local != null && local.indexOf(':') < 0 && !local.equals(Ends.GUEST) && !local.equals("0.0.0.0");
    }

    private static String end(@Nullable Text ip, @Nullable Long port) {
        return ip + (port == null || port == 0 ? "" : ":" + port);
    }

    private void decides(NetView.Decision decision, long index) {
        Ends ends = Ends.ofHost(decision);
        String stage = detail(decision, "stage");
        if (ends == null || stage == null) {
            return;
        }
        String host = decision.host() == null ? null : decision.host().toString();
        switch (stage) {
            case "connect" -> decides(new Decided(ends, index, decision.atNs(), host, false));
            case "dns" -> {
                if (ends.isTcp() && host != null) {
                    asks(host); // the guest's tracer reads questions in datagrams only
                }
                decides(new Decided(ends, index, decision.atNs(), host, true));
            }
            case "tls" -> hello(ends, index, host, detail(decision, "serverName"));
            default -> {}
        }
    }

    private void decides(Decided flow) {
        if (flow.ends.isTcp()) {
            Begun connection = begun.take(flow.ends);
            Begun known = connection == null ? open.get(flow.ends) : null;
            if (connection != null) {
                bothTold(flow, connection);
            } else if (known != null) {
                agree(flow, known.index);
            } else {
                decided.add(flow);
            }
            return;
        }
        Long index = datagrams.get(flow.ends);
        if (index != null) {
            agree(flow, index);
        } else {
            decided.add(flow);
        }
    }

    private void hello(Ends ends, long index, @Nullable String host, @Nullable String serverName) {
        if (serverName == null || isSame(serverName, host == null ? ends.remoteIp() : host)) {
            return;
        }
        var hello = new Hello(index, host, serverName);
        Decided last = decided.newest(ends);
        if (last != null) {
            last.hellos.add(hello); // the guest's word of it is awaited
        } else {
            Begun connection = open.get(ends);
            say(ends, hello, connection == null ? null : (Long) connection.index);
        }
    }

    private static boolean isSame(String name, String other) {
        String plain = name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
        return plain.equalsIgnoreCase(other);
    }

    private void say(Ends ends, Hello hello, @Nullable Long guestEvent) {
        found.add(Finding.SNI_NOT_ADDRESS, ends, hello.host, hello.serverName, guestEvent, (Long) hello.index, null);
    }

    // What comes of both.

    private void bothTold(Decided flow, Begun connection) {
        if (!connection.closed) {
            open.put(flow.ends, connection);
        }
        agree(flow, connection.index);
    }

    private void agree(Decided flow, long guestEvent) {
        if (flow.ends.isTcp()) {
            connections++;
        } else {
            exchanges++;
        }
        told(flow, guestEvent);
    }

    /// What holds of a flow whether or not the guest told of it.
    private void told(Decided flow, @Nullable Long guestEvent) {
        flow.hellos.forEach(hello -> say(flow.ends, hello, guestEvent));
        boolean standsForName = flow.ends.remoteIp().startsWith("198.18.")
                || flow.ends.remoteIp().startsWith("198.19.");
        if (flow.isQuestion || !standsForName) {
            return;
        }
        String host = flow.host;
        if (host == null || !asked.contains(host.toLowerCase(Locale.ROOT))) {
            String unknown = host == null ? null : namesUnknown == null ? guest.unknown(flow.atNs) : namesUnknown;
            found.add(Finding.NAME_NOT_ASKED, flow.ends, host, null, guestEvent, (Long) flow.index, unknown);
        }
    }

    private void withoutGuest(Decided flow, @Nullable String unknown) {
        String why = guest.unknown(flow.atNs);
        boolean forgotten = flow.ends.isTcp() ? open.hasForgotten() : datagrams.hasForgotten();
        String doubt = why != null ? why : unknown != null ? unknown : forgotten ? FORGOTTEN : null;
        found.add(Finding.FLOW_WITHOUT_CONNECT, flow.ends, flow.host, null, null, (Long) flow.index, doubt);
        told(flow, null);
    }

    private void withoutHost(Begun connection, @Nullable String unknown) {
        if (!connection.seenByHost) {
            String why = guest.unknown(connection.atNs);
            found.add(
                    Finding.CONNECT_WITHOUT_FLOW,
                    connection.ends,
                    null,
                    null,
                    (Long) connection.index,
                    null,
                    why == null ? unknown : why);
        }
    }

    private void judge() {
        Decided flow = decided.oldest();
        while (flow != null) {
            boolean tooMany = decided.size() > KEPT_MAX;
            boolean due = nowNs - flow.atNs >= PATIENCE.toNanos() && guest.hasPassed(flow.atNs);
            if (!due && !tooMany) {
                break;
            }
            decided.removeOldest();
            withoutGuest(flow, due ? null : FORGOTTEN);
            flow = decided.oldest();
        }
        Begun connection = begun.oldest();
        while (connection != null) {
            boolean tooMany = begun.size() > KEPT_MAX;
            boolean due = nowNs - connection.atNs >= FRAMES_PATIENCE.toNanos();
            if (!due && !tooMany) {
                break;
            }
            begun.removeOldest();
            withoutHost(connection, due ? null : FORGOTTEN);
            connection = begun.oldest();
        }
    }
}
