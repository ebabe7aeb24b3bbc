package blackbox.bench.subject;

import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/// Invented events that resemble an agent's build: short processes that load the same libraries, look for missing
/// files, read sources and write objects; now and then one of them opens a connection. The same seed gives the same
/// events.
public final class Traffic {
    private static final List<Text> ENVIRONMENT = texts(
            "HOME",
            "LANG",
            "LOGNAME",
            "MAKEFLAGS",
            "MAKELEVEL",
            "OLDPWD",
            "PATH",
            "PWD",
            "SHELL",
            "SHLVL",
            "TERM",
            "USER");
    private static final List<String> PROGRAMS =
            List.of("sh", "make", "cc1", "as", "ld", "git", "sed", "grep", "python3", "curl");
    private static final List<Text> LIBRARIES = texts(
            "/etc/ld.so.cache",
            "/usr/lib/x86_64-linux-gnu/libc.so.6",
            "/usr/lib/x86_64-linux-gnu/libm.so.6",
            "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13",
            "/usr/lib/locale/locale-archive");
    private static final long OPEN_FLAGS_READ = 0x88000;
    private static final long OPEN_FLAGS_WRITE = 0x80241;
    private static final long ENOENT = -2;

    private final RandomGenerator random;
    private final List<Text> sources = new ArrayList<>();
    private long atNs = 1_795_000_000_000_000_000L;
    private long cpuSequence;
    private int pid = 400;

    public Traffic(long seed) {
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        for (int i = 0; i < 2_000; i++) {
            sources.add(Text.of("/workspace/src/module" + i % 37 + "/part_" + i + (i % 3 == 0 ? ".h" : ".c")));
        }
    }

    /// The next `count` events.
    public List<Event> events(int count) {
        List<Event> events = new ArrayList<>(count + 64);
        while (events.size() < count) {
            addProcess(events);
        }
        return List.copyOf(events.subList(0, count));
    }

    private void addProcess(List<Event> events) {
        String program = PROGRAMS.get(random.nextInt(PROGRAMS.size()));
        pid = pid == 32_768 ? 400 : pid + 1;
        var process = new ProcessRef(pid, pid, 399, atNs - 1_794_999_000_000_000_000L, Text.of(program), 1000);
        Text source = source();
        Text exe = Text.of("/usr/bin/" + program);
        events.add(new Event.ProcessFork(header(process), 77_000_000L));
        events.add(new Event.ProcessExec(
                header(process),
                exe,
                List.of(Text.of(program), Text.of("-O2"), Text.of("-Iinclude"), Text.of("-o"), source),
                ENVIRONMENT,
                Text.of("/workspace/src"),
                0));
        for (Text library : LIBRARIES.subList(0, 2 + random.nextInt(LIBRARIES.size() - 1))) {
            addRead(events, process, library);
        }
        for (int i = random.nextInt(12); i > 0; i--) {
            if (random.nextInt(3) == 0) {
                events.add(new Event.FileOpen(header(process), source(), OPEN_FLAGS_READ, null, false, ENOENT));
            } else {
                addRead(events, process, source());
            }
        }
        addWrite(events, process);
        if (random.nextInt(50) == 0) {
            addConnection(events, process);
        }
        events.add(new Event.ProcessExit(header(process), 0, null));
    }

    private void addRead(List<Event> events, ProcessRef process, Text path) {
        events.add(new Event.FileOpen(header(process), path, OPEN_FLAGS_READ, null, false, 3));
        long bytes = 100L + random.nextInt(60_000);
        events.add(new Event.FileIo(header(process), path, bytes, 0, 1 + bytes / 32_768, 0, 0L, bytes, 0L));
    }

    private void addWrite(List<Event> events, ProcessRef process) {
        Text temporary = Text.of("/workspace/build/.tmp" + Integer.toHexString(random.nextInt()));
        long bytes = random.nextInt(200_000);
        events.add(new Event.FileOpen(header(process), temporary, OPEN_FLAGS_WRITE, 0644, true, 4));
        events.add(new Event.FileIo(header(process), temporary, 0, bytes, 0, 1 + bytes / 4_096, 0L, bytes, 0L));
        events.add(new Event.FileChange(
                header(process),
                Kind.FILE_RENAME,
                temporary,
                Text.of("/workspace/build/o" + pid),
                null,
                null,
                null,
                null,
                0));
    }

    private void addConnection(List<Event> events, ProcessRef process) {
        var local = new Endpoint("10.0.2.15", 32_768 + random.nextInt(28_000));
        var remote = new Endpoint("10.0.2.2", 8080);
        events.add(new Event.NetCall(header(process), Kind.NET_CONNECT, "tcp", local, remote, null, 0));
        events.add(new Event.NetFlow(
                header(process), "tcp", local, remote, null, 400, random.nextInt(100_000), null, null, "closed"));
    }

    private Text source() {
        return sources.get(random.nextInt(sources.size()));
    }

    private EventHeader header(ProcessRef process) {
        atNs += 1_000 + random.nextInt(40_000);
        return new EventHeader(atNs, Source.GUEST, new GuestOrigin(0, cpuSequence++), process, Marks.NONE);
    }

    private static List<Text> texts(String... values) {
        return List.of(values).stream().map(Text::of).toList();
    }
}
