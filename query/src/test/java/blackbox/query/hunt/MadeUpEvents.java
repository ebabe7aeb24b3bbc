package blackbox.query.hunt;

import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Text;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Events of few processes that fork, execute, open files and connect, with hostile texts.
final class MadeUpEvents {
    /// So few that much fits: with wildcards of SQL's and of rules', quotes, other letters, and what is no UTF-8.
    static final List<String> WORDS = List.of(
            "a", "A", "b", "%", "_", "*", "?", "'", "\\", "É", "é", "😀", "\n", " ", "/", "/tmp/x", "10", "-1.5", "");

    /// Others read these otherwise.
    private static final List<String> DETAILS = List.of(
            "no JSON",
            "{\"a\":1,\"a\":2}",
            "{\"a\":1} x",
            "{\"a\":NaN}",
            "{\"a\":1,}",
            "{\"a\":1e20}",
            "{\"a\":{\"b\":1.50}}",
            "{\"a\":[1, 2]}",
            "{\"a\":123456789012345678901234567890}",
            "[1]",
            "\"a\"");

    private final RandomGenerator random;
    private final List<ProcessRef> processes = new ArrayList<>();
    private long atNs;
    private long sequence;
    private int pid = 10;

    MadeUpEvents(RandomGenerator random, long fromNs, long sequence) {
        this.random = random;
        this.atNs = fromNs;
        this.sequence = sequence;
        for (int i = 0; i < 3; i++) {
            processes.add(process(1));
        }
    }

    private ProcessRef process(int parent) {
        pid++;
        int uid = random.nextInt(3);
        return new ProcessRef(pid, pid, parent, pid * 10L, Text.of("c"), uid == 2 ? null : uid * 1000);
    }

    List<Event> events(int count) {
        return IntStream.range(0, count).mapToObj(_ -> next()).toList();
    }

    private Event next() {
        ProcessRef who = processes.get(random.nextInt(processes.size()));
        return switch (random.nextInt(9)) {
            case 0 -> {
                ProcessRef child = process(who.pid());
                processes.set(random.nextInt(processes.size()), child);
                yield new Event.ProcessFork(header(child), random.nextInt(4) == 0 ? null : who.startNs());
            }
            case 1, 2 ->
                new Event.ProcessExec(
                        header(who),
                        maybe(),
                        random.nextInt(8) == 0 ? null : List.of(text(), text()),
                        List.of(),
                        maybe(),
                        random.nextInt(6) == 0 ? -2 : 0);
            case 3, 4 -> new Event.FileOpen(header(who), maybe(), 0, null, random.nextBoolean(), random.nextInt(6) - 1);
            case 5 ->
                new Event.FileChange(
                        header(who),
                        List.of(Kind.FILE_RENAME, Kind.FILE_LINK, Kind.FILE_SYMLINK, Kind.FILE_UNLINK)
                                .get(random.nextInt(4)),
                        maybe(),
                        maybe(),
                        null,
                        null,
                        null,
                        null,
                        0);
            case 6 ->
                new Event.DnsQuery(
                        random.nextBoolean() ? header(who) : EventHeader.host(++atNs),
                        text(),
                        1,
                        List.of(Text.of(address()), Text.of(address())),
                        "udp",
                        null,
                        null);
            case 7 ->
                new Event.NetCall(
                        header(who),
                        Kind.NET_CONNECT,
                        "tcp",
                        null,
                        new Endpoint(address(), random.nextInt(12)),
                        null,
                        random.nextInt(3) == 0 ? -115 : random.nextInt(2) - 1);
            default ->
                new Event.VmLifecycle(
                        EventHeader.host(++atNs),
                        words(),
                        random.nextInt(3) == 0
                                ? DETAILS.get(random.nextInt(DETAILS.size()))
                                : "{\"a\":"
                                        + List.of("1", "\"b\"", "null", "true").get(random.nextInt(4)) + "}");
        };
    }

    private EventHeader header(ProcessRef who) {
        atNs += random.nextInt(2_000_000_000);
        Actor actor = List.of(Actor.AGENT, Actor.AGENT, Actor.SUPERVISOR).get(random.nextInt(3));
        return new EventHeader(
                atNs,
                Source.GUEST,
                new GuestOrigin(0, ++sequence, random.nextInt(9) == 0 ? null : actor),
                who,
                Marks.NONE);
    }

    private String address() {
        return List.of("10.1.2.3", "192.0.2.7", "::1", "fe80::2", "127.0.0.1").get(random.nextInt(5));
    }

    String words() {
        return WORDS.get(random.nextInt(WORDS.size())) + WORDS.get(random.nextInt(WORDS.size()));
    }

    /// Sometimes not UTF-8.
    private Text text() {
        byte[] octets = words().getBytes(StandardCharsets.UTF_8);
        if (octets.length > 0 && random.nextInt(8) == 0) {
            octets[random.nextInt(octets.length)] = (byte) (0xc0 + random.nextInt(64));
        }
        return Text.copyOf(octets, 0, octets.length);
    }

    private @Nullable Text maybe() {
        return random.nextInt(8) == 0 ? null : text();
    }
}
