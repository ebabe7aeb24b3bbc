package blackbox.replay.divergence;

import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.schemas.Hash;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/// Events as the recorder writes them, with numbers and times that depend on a seed.
public final class RecordedEvents {

    public static final long WRITE_CREATE = 01 | 0100 | 01000;
    public static final long EXCLUSIVE = 02 | 0100 | 0200;

    private final List<Event> events = new ArrayList<>();
    private final Random random;
    private long nowNs;
    private long cpuSeq;
    private int nextPid;
    private int nextPort;

    /// A process of the run.
    public record Guest(int pid, int tid, int ppid, long startNs, String comm) {
        public Guest thread(int number) {
            return new Guest(pid, number, ppid, startNs, comm);
        }
    }

    public final Guest init = new Guest(1, 1, 0, 1_000, "python3");

    public RecordedEvents(long seed) {
        random = new Random(seed);
        nowNs = 1_760_000_000_000_000_000L + random.nextLong(1L << 40);
        nextPid = 110 + random.nextInt(5_000);
        nextPort = 33_000 + random.nextInt(20_000);
    }

    public long count() {
        return events.size();
    }

    /// All of them, in order.
    public List<Event> events() {
        return List.copyOf(events);
    }

    public EventSource source() {
        return source(events);
    }

    /// Reads events from a list, which may grow meanwhile.
    public static EventSource source(List<Event> events) {
        return from -> new EventCursor() {
            private final Row row = new Row();
            private int at = (int) from - 1;

            @Override
            public boolean next() {
                if (at + 1 >= events.size()) {
                    return false;
                }
                EventRows.fill(events.get(++at), row);
                return true;
            }

            @Override
            public long index() {
                return at;
            }

            @Override
            public Row row() {
                return row;
            }

            @Override
            public void close() {}
        };
    }

    /// Adds an event and returns its index.
    public long add(Event event) {
        events.add(event);
        return events.size() - 1L;
    }

    private long tick() {
        nowNs += 1_000 + random.nextInt(100_000_000);
        return nowNs;
    }

    public EventHeader host() {
        return EventHeader.host(tick());
    }

    public EventHeader guest(Guest process) {
        return guest(
                new ProcessRef(process.pid, process.tid, process.ppid, process.startNs, Text.of(process.comm), 1000));
    }

    EventHeader guest(ProcessRef process) {
        return new EventHeader(tick(), Source.GUEST, new GuestOrigin(0, ++cpuSeq), process, Marks.NONE);
    }

    /// Lets time pass.
    public void pass(long ns) {
        nowNs += ns;
    }

    /// The number that the kernel would assign next.
    public int newPid() {
        nextPid += 1 + random.nextInt(3);
        return nextPid;
    }

    public int newPort() {
        return nextPort++;
    }

    public String newSuffix() {
        String letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        var text = new StringBuilder();
        for (int i = 0; i < 8; i++) {
            text.append(letters.charAt(random.nextInt(letters.length())));
        }
        return text.toString();
    }

    public RecordedEvents open() {
        add(new Event.RunOpen(host(), Text.of("run"), "{\"tier\":\"live\"}"));
        add(new Event.TracerReady(host(), "{}"));
        add(new Event.ProcessRunning(guest(init), Text.of("/usr/bin/python3.11")));
        return this;
    }

    public RecordedEvents close() {
        add(new Event.RunClose(host(), events.size(), 0, 0, null, null));
        return this;
    }

    public Guest fork(Guest parent, String comm) {
        return fork(parent, comm, newPid());
    }

    /// A child that gets this number.
    public Guest fork(Guest parent, String comm, int pid) {
        var child = new Guest(pid, pid, parent.pid, nowNs - 1_700_000_000_000_000_000L, comm);
        add(new Event.ProcessFork(guest(child), parent.startNs));
        return child;
    }

    public long exec(Guest process, String... argv) {
        return exec(process, List.of("PATH", "HOME"), argv);
    }

    public long exec(Guest process, List<String> environment, String... argv) {
        return add(new Event.ProcessExec(
                guest(process),
                Text.of(argv[0]),
                Arrays.stream(argv).map(Text::of).toList(),
                environment.stream().map(Text::of).toList(),
                Text.of("/workspace"),
                0));
    }

    public long exit(Guest process, int code) {
        return add(new Event.ProcessExit(guest(process), code, null));
    }

    /// A process that a signal ends.
    long killed(Guest process, int signal) {
        return add(new Event.ProcessExit(guest(process), null, signal));
    }

    public long open(Guest process, String path) {
        return open(process, path, 0);
    }

    public long open(Guest process, String path, int ret) {
        return add(new Event.FileOpen(guest(process), Text.of(path), 0, null, false, ret));
    }

    public long create(Guest process, String path, long flags) {
        return add(new Event.FileOpen(guest(process), Text.of(path), flags, 0644, true, 0));
    }

    public long read(Guest process, String path, long bytes) {
        return add(new Event.FileIo(guest(process), Text.of(path), bytes, 0, 1, 0, 0L, bytes, null));
    }

    public long write(Guest process, String path, long bytes) {
        return add(new Event.FileIo(guest(process), Text.of(path), 0, bytes, 0, 1, 0L, bytes, null));
    }

    public long unlink(Guest process, String path) {
        return add(
                new Event.FileChange(guest(process), Kind.FILE_UNLINK, Text.of(path), null, null, null, null, null, 0));
    }

    /// Gives a file a name.
    ///
    /// @param how a rename or a link
    public long name(Guest process, Kind how, String path, String to) {
        return add(new Event.FileChange(guest(process), how, Text.of(path), Text.of(to), null, null, null, null, 0));
    }

    /// Creates a file and writes to it.
    public long writeFile(Guest process, String path, long bytes) {
        create(process, path, WRITE_CREATE);
        return write(process, path, bytes);
    }

    public long readFile(Guest process, String path, long bytes) {
        open(process, path);
        return read(process, path, bytes);
    }

    public long connect(Guest process, String ip, int port, int ret) {
        return add(new Event.NetCall(guest(process), Kind.NET_CONNECT, "tcp", null, new Endpoint(ip, port), null, ret));
    }

    public long listen(Guest process, int port) {
        return own(process, Kind.NET_LISTEN, port);
    }

    public long bind(Guest process, int port) {
        return own(process, Kind.NET_BIND, port);
    }

    private long own(Guest process, Kind call, int port) {
        return add(new Event.NetCall(guest(process), call, "tcp", new Endpoint("127.0.0.1", port), null, null, 0));
    }

    public long guestFlow(Guest process, int local, String ip, int port, long out, long in) {
        return add(new Event.NetFlow(
                guest(process),
                "tcp",
                new Endpoint("10.0.2.15", local),
                new Endpoint(ip, port),
                null,
                out,
                in,
                null,
                null,
                "closed"));
    }

    public long hostFlow(int local, String ip, int port, long out, long in, @Nullable String what) {
        return add(new Event.NetFlow(
                host(),
                "tcp",
                new Endpoint("10.0.2.15", local),
                new Endpoint(ip, port),
                null,
                out,
                in,
                3L + random.nextInt(5),
                3L + random.nextInt(5),
                what));
    }

    /// An answer of so many octets that began a millisecond before.
    ///
    /// @param digit of its digest
    public long answered(int local, String ip, int port, String target, char digit, long in) {
        String detail =
                "{\"number\":0,\"scheme\":\"https\",\"method\":\"POST\",\"authority\":\"api.example\",\"target\":\""
                        + target + "\",\"status\":200,\"responseSha256\":\""
                        + String.valueOf(digit).repeat(64)
                        + "\",\"firstNs\":1000000,\"durationNs\":2000000}";
        return add(new Event.HttpExchange(
                host(),
                "answered",
                new Endpoint("10.0.2.15", local),
                new Endpoint(ip, port),
                Text.of("api.example"),
                80,
                in,
                detail));
    }

    /// What the run's clock shows.
    public long nowNs() {
        return nowNs;
    }

    public long dns(Guest process, String name, String... answers) {
        return add(new Event.DnsQuery(
                guest(process),
                Text.of(name),
                1,
                Arrays.stream(answers).map(Text::of).toList(),
                "udp",
                null,
                new Endpoint("10.0.2.3", 53)));
    }

    /// A socket that asks the guest's resolver, as both sides see it.
    public long dnsSocket(Guest process, int local) {
        var resolver = new Endpoint("10.0.2.3", 53);
        var here = new Endpoint("10.0.2.15", local);
        long index = add(new Event.NetCall(guest(process), Kind.NET_CONNECT, "udp", here, resolver, null, 0));
        add(new Event.NetFlow(host(), "udp", here, resolver, null, 0, 0, null, null, "open"));
        add(new Event.NetFlow(guest(process), "udp", here, resolver, null, 70, 119, null, null, "unfinished"));
        return index;
    }

    public long hostDns(int local, String name, String... answers) {
        return add(new Event.DnsQuery(
                host(),
                Text.of(name),
                1,
                Arrays.stream(answers).map(Text::of).toList(),
                "udp",
                new Endpoint("10.0.2.15", local),
                new Endpoint("10.0.2.3", 53)));
    }

    public long loss(long lost) {
        return add(new Event.RecorderLoss(host(), lost, "sequence", null));
    }

    public long tracerHeartbeat() {
        return add(new Event.TracerHeartbeat(guest(new Guest(99, 99, 1, 50, "tracer")), "{}"));
    }

    public long hostHeartbeat() {
        return add(new Event.RecorderHeartbeat(host(), 0, Hash.ZERO, events.size(), 0, null));
    }
}
