package blackbox.replay.rerun;

import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.cassette.Miss;
import blackbox.replay.divergence.RecordedEvents;
import blackbox.replay.divergence.RecordedEvents.Guest;
import blackbox.replay.rerun.Deed.Program;
import blackbox.replay.rerun.Deed.Step;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// One execution of a [SmallBuild]: the events as a recorder has them, the files that it leaves, what it prints. Seeds
/// choose process numbers, ports, made-up names and times; and whose turn it is.
final class BuildSide {
    /// What is at a path.
    record Node(String content, int mode, @Nullable String target) {}

    /// Takes what is printed.
    @FunctionalInterface
    interface Printer {
        void print(long nowNs, PrintedStream stream, String text) throws IOException;
    }

    /// Answers requests.
    @FunctionalInterface
    interface Network {
        /// The requests that were refused; none if all went well.
        List<Miss> exchange(int localPort, Deed.Fetch fetch);
    }

    /// What happens after a request that was refused.
    enum AfterMiss {
        /// The run is ended.
        END,
        /// The client's connection breaks.
        GO_ON
    }

    /// The run was ended at a request.
    private static final class Ended extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    final RecordedEvents events;
    final Map<String, Node> files = new TreeMap<>();
    private final Random turns;
    private final Printer printer;
    private final Network network;
    private final AfterMiss afterMiss;
    private @Nullable Miss missed;
    private boolean ended;
    private String name = "";
    /// Of as many digits on every side, so that as much is written; above all others.
    private final int agentPid;
    private long beganNs;
    /// Of the first program that the agent ran.
    private int firstPid;

    BuildSide(long numbers, long turns, Printer printer, Network network, AfterMiss afterMiss) {
        this.events = new RecordedEvents(numbers);
        this.agentPid = 6_000 + new Random(numbers).nextInt(3_000);
        this.turns = new Random(turns);
        this.printer = printer;
        this.network = network;
        this.afterMiss = afterMiss;
    }

    /// The first request that was refused, or null.
    @Nullable
    Miss missed() {
        return missed;
    }

    /// Whether the run was ended at it.
    boolean wasEnded() {
        return ended;
    }

    /// Executes it, up to the end of its agent.
    void run(SmallBuild build) throws IOException {
        Guest tar = events.fork(events.init, "tar");
        events.exec(tar, "/usr/bin/tar", "-x", "-C", "/workspace");
        events.writeFile(tar, "/workspace/build.sh", 800);
        events.exit(tar, 0);
        files.put("/workspace/build.sh", new Node("sh".repeat(400), 0644, null));
        beganNs = events.nowNs();
        Guest agent = events.fork(events.init, "sh", agentPid);
        try {
            run(agent, build.agent);
        } catch (Ended _) {
            ended = true;
        }
    }

    private void run(Guest process, Program program) throws IOException {
        firstPid = firstPid == 0 && process.pid() != agentPid ? process.pid() : firstPid;
        begin(process, program);
        for (Step step : program.steps()) {
            act(process, step.deed());
        }
        events.exit(process, program.exit());
    }

    private void begin(Guest process, Program program) {
        var argv = new ArrayList<Text>();
        argv.add(Text.of(program.name()));
        program.arguments().forEach(each -> argv.add(Text.of(each)));
        events.add(new Event.ProcessExec(
                events.guest(process),
                Text.of("/usr/bin/" + program.name()),
                argv,
                List.of(Text.of("PATH"), Text.of("HOME")),
                Text.of(program.folder()),
                0));
        events.open(process, "/etc/ld.so.cache");
        events.read(process, "/usr/lib/x86_64-linux-gnu/libc.so.6", 832);
    }

    private void act(Guest process, Deed deed) throws IOException {
        switch (deed) {
            case Deed.Open open ->
                events.add(new Event.FileOpen(
                        events.guest(process), Text.of(open.path()), open.flags(), null, false, open.ret()));
            case Deed.Read read -> read(process, read);
            case Deed.Write write -> write(process, write);
            case Deed.Chmod chmod -> {
                change(process, Kind.FILE_CHMOD, filled(chmod.path()), null, chmod.mode());
                files.computeIfPresent(
                        filled(chmod.path()), (_, old) -> new Node(old.content(), chmod.mode(), old.target()));
            }
            case Deed.Rename rename -> {
                change(process, Kind.FILE_RENAME, filled(rename.from()), filled(rename.to()), null);
                Node moved = files.remove(filled(rename.from()));
                if (moved != null) {
                    files.put(filled(rename.to()), moved);
                }
            }
            case Deed.Symlink link -> {
                change(process, Kind.FILE_SYMLINK, link.path(), link.target(), null);
                files.put(link.path(), new Node("", 0777, link.target()));
            }
            case Deed.Unlink unlink -> {
                events.unlink(process, filled(unlink.path()));
                files.remove(filled(unlink.path()));
            }
            case Deed.Temporary temporary -> {
                name = temporary.folder() + "/tmp." + events.newSuffix();
                events.add(new Event.FileOpen(
                        events.guest(process), Text.of(name), RecordedEvents.EXCLUSIVE, 0600, true, 0));
                events.write(process, name, temporary.content().length());
                files.put(name, new Node(temporary.content(), 0600, null));
            }
            case Deed.Print print -> printer.print(events.nowNs(), print.stream(), filled(print.text()));
            case Deed.Fetch fetch -> fetch(process, fetch);
            case Deed.Serve serve -> serve(process, serve);
            case Deed.Sleep sleep -> events.pass(sleep.ns());
            case Deed.Run run -> run(events.fork(process, process.comm()), run.program());
            case Deed.Beside beside -> beside(process, beside.programs());
            case Deed.Threads threads -> threads(process, threads.threads());
        }
    }

    private String filled(String text) {
        Instant now = Instant.ofEpochSecond(0, events.nowNs()).truncatedTo(ChronoUnit.SECONDS);
        return text.replace("${time}", now.toString())
                .replace("${name}", name)
                .replace("${took}", "%.3f".formatted((events.nowNs() - beganNs) / 1e9))
                .replace("${pid}", Integer.toString(agentPid))
                .replace("${compiler}", Integer.toString(firstPid));
    }

    private void read(Guest process, Deed.Read read) {
        events.open(process, read.path());
        for (List<Integer> calls : read.calls()) {
            long octets = calls.stream().mapToLong(each -> each).sum();
            events.add(new Event.FileIo(
                    events.guest(process), Text.of(read.path()), octets, 0, calls.size(), 0, 0L, octets, null));
        }
    }

    private void write(Guest process, Deed.Write write) {
        String path = filled(write.path());
        Node old = files.get(path);
        boolean fresh = old == null;
        events.add(new Event.FileOpen(
                events.guest(process),
                Text.of(path),
                fresh ? RecordedEvents.WRITE_CREATE : 02001,
                fresh ? (Integer) write.mode() : null,
                fresh,
                0));
        String content = filled(write.content());
        long octets = content.length();
        events.add(new Event.FileIo(
                events.guest(process),
                Text.of(path),
                0,
                octets,
                0,
                write.pieces().size(),
                0L,
                octets,
                null));
        files.put(
                path,
                old == null
                        ? new Node(content, write.mode(), null)
                        : new Node(old.content() + content, old.mode(), null));
    }

    private void change(Guest process, Kind kind, String path, @Nullable String pathTo, @Nullable Integer mode) {
        events.add(new Event.FileChange(
                events.guest(process),
                kind,
                Text.of(path),
                pathTo == null ? null : Text.of(pathTo),
                mode,
                null,
                null,
                null,
                0));
    }

    private void fetch(Guest process, Deed.Fetch fetch) {
        events.dns(process, "service", SmallBuild.SERVICE);
        for (int failed : fetch.attempts()) {
            events.connect(process, fetch.ip(), fetch.port(), failed);
        }
        int local = events.newPort();
        events.connect(process, fetch.ip(), fetch.port(), 0);
        events.hostFlow(local, fetch.ip(), fetch.port(), 0, 0, "open");
        for (Miss miss : network.exchange(local, fetch)) {
            events.add(new Event.NetMiss(events.host(), miss.kind().name(), miss.json()));
            missed = missed == null ? miss : missed;
        }
        int in = fetch.answer().length() - fetch.lost();
        if (missed != null) {
            if (afterMiss == AfterMiss.END) {
                throw new Ended();
            }
            in = 0;
        }
        events.guestFlow(
                process, local, fetch.ip(), fetch.port(), fetch.request().length(), in);
        events.hostFlow(
                local, fetch.ip(), fetch.port(), fetch.request().length(), in, missed == null ? "closed" : "reset");
    }

    private void serve(Guest process, Deed.Serve serve) {
        int port = events.newPort();
        events.listen(process, port);
        for (int failed : serve.attempts()) {
            events.add(new Event.NetCall(
                    events.guest(process),
                    Kind.NET_ACCEPT,
                    "tcp",
                    new Endpoint("127.0.0.1", port),
                    null,
                    null,
                    failed));
        }
        events.add(new Event.NetCall(
                events.guest(process),
                Kind.NET_ACCEPT,
                "tcp",
                new Endpoint("127.0.0.1", port),
                new Endpoint("127.0.0.1", events.newPort()),
                null,
                0));
    }

    /// Several at once: whose turn it is, is chance.
    private final class Turns {
        private final List<Guest> who = new ArrayList<>();
        private final List<Deque<Deed>> left = new ArrayList<>();

        void add(Guest process, List<Step> steps) {
            who.add(process);
            left.add(new ArrayDeque<>(steps.stream().map(Step::deed).toList()));
        }

        void take(Ending ending) throws IOException {
            while (!who.isEmpty()) {
                int next = turns.nextInt(who.size());
                Deed deed = left.get(next).poll();
                if (deed != null) {
                    act(who.get(next), deed);
                } else {
                    ending.of(who.remove(next));
                    left.remove(next);
                }
            }
        }
    }

    @FunctionalInterface
    private interface Ending {
        void of(Guest process);
    }

    private void beside(Guest process, List<Program> programs) throws IOException {
        var together = new Turns();
        var exits = new TreeMap<Integer, Integer>();
        for (Program program : programs) {
            Guest child = events.fork(process, process.comm());
            begin(child, program);
            exits.put(child.pid(), program.exit());
            together.add(child, program.steps());
        }
        together.take(child -> events.exit(child, exits.getOrDefault(child.pid(), 0)));
    }

    private void threads(Guest process, List<List<Step>> threads) throws IOException {
        var together = new Turns();
        for (List<Step> steps : threads) {
            together.add(process.thread(events.newPid()), steps);
        }
        together.take(_ -> {});
    }
}
