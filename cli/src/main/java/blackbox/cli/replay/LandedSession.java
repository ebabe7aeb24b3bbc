package blackbox.cli.replay;

import blackbox.query.answer.Printable;
import blackbox.query.store.RunFacts;
import blackbox.query.store.RunReader;
import blackbox.replay.Moment;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.seek.Lander;
import blackbox.replay.seek.Lander.Landed;
import blackbox.replay.tier.ReplayRequest;
import blackbox.schemas.event.Kind;
import blackbox.vm.VmException;
import blackbox.vm.machine.SteppedMachine;
import blackbox.vm.machine.VmRequest;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A replay that stands still at a moment, and what can be asked of it: one command a line, until the input
/// ends. Nothing that is done here changes the recording, and there is no network.
public final class LandedSession implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final int OUTPUT_BYTES_MAX = 64 << 10;
    private static final int MEMORY_BYTES_MAX = 4_096;
    private static final List<String> HELP = List.of(
            "where                  this place",
            "next [KIND]            land at the next event, or the next of a kind such as process.exec",
            "to INDEX|TIME          land elsewhere in this run",
            "step [N], back [N]     execute N instructions more, or N less (1 unless said otherwise)",
            "registers              what the processor holds",
            "memory ADDRESS LENGTH  memory as the program that runs now sees it; the address in hex",
            "processes              who lives here, by the recorded events",
            "console, output        what the guest wrote to its console, and the agent to its streams, since the start",
            "disk                   how to look at the disk as it was at this event",
            "finish                 execute to the end of the recording",
            "quit");

    private final ReplayRequest request;
    private final Lander lander;
    private final PrintWriter out;
    private final boolean json;
    private Landed landed;
    private FrameLookup event;

    private LandedSession(
            ReplayRequest request, Lander lander, PrintWriter out, boolean json, Landed landed, FrameLookup event) {
        this.request = request;
        this.lander = lander;
        this.out = out;
        this.json = json;
        this.landed = landed;
        this.event = event;
    }

    /// How answers are written.
    public enum Answers {
        TEXT,
        JSON
    }

    /// Lands.
    ///
    /// @param says hears progress
    /// @throws ReplayException `BAD_INPUT` for a moment that the run does not have; `MISSING` for a
    ///     recording that does not say where its frames are emitted
    public static LandedSession at(
            ReplayRequest request, Moment moment, PrintWriter out, Answers answers, Consumer<String> says)
            throws ReplayException, IOException {
        var run = request.facts().run();
        var position = moment.locate(request.recordings(), run);
        var event = FrameLookup.at(request.recordings(), run, position.index());
        var log = request.inputs().captures().get(VmRequest.LOG);
        if (log == null) {
            throw new ReplayException(Code.MISSING, "run " + run + " has no replay log");
        }
        var lander = new Lander(
                request.recordings().data(),
                ExactReplayer.recording(request),
                log,
                emitAddress(request),
                request.recordings()
                        .data()
                        .resolve("replays")
                        .resolve(run.value())
                        .resolve("index"),
                says);
        var landed = lander.land(event.seq());
        return new LandedSession(request, lander, out, answers == Answers.JSON, landed, event);
    }

    /// Where the guest's kernel emits frames: the tracer says so in the run's second event.
    private static long emitAddress(ReplayRequest request) throws IOException, ReplayException {
        try (RunReader reader =
                RunReader.open(request.recordings(), request.facts().run(), 1)) {
            if (reader.next()) {
                var address = RunFacts.detailOf(reader.row()).path("emitAddress");
                if (address.isIntegralNumber() && address.bigIntegerValue().signum() > 0) {
                    return address.bigIntegerValue().longValue();
                }
            }
        }
        throw new ReplayException(
                Code.MISSING, "the recording does not say where its events are emitted; it can be replayed whole");
    }

    /// Says where it stands, and then answers commands until `in` ends.
    ///
    /// @param why the run is replayed exactly, for people
    public void answer(BufferedReader in, String why) throws IOException, ReplayException, VmException {
        arrive(why);
        release();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.strip().split("\\s+", -1);
            if (words[0].equals("quit")) {
                return;
            }
            try {
                if (!obey(words)) {
                    return;
                }
            } catch (ReplayException e) {
                if (e.code() != Code.BAD_INPUT) {
                    throw e;
                }
                fault(e);
            } catch (VmException | IllegalArgumentException e) {
                fault(e);
            }
            release();
        }
    }

    /// Leaves the machine's debugger socket to whoever wants it.
    private void release() throws ReplayException {
        out.flush();
        try {
            landed.machine().release();
        } catch (VmException e) {
            throw new ReplayException(Code.ENGINE, "the debugger could not be given up", e);
        }
    }

    private void fault(Exception e) {
        say("error", String.valueOf(e.getMessage()));
    }

    private boolean obey(String[] words) throws VmException, IOException, ReplayException {
        switch (words[0]) {
            case "" -> {}
            case "where" -> where();
            case "next" -> next(words.length > 1 ? kind(words[1]) : null);
            case "to" -> to(word(words, 1));
            case "step" -> move(number(words));
            case "back" -> move(-number(words));
            case "registers" -> registers();
            case "memory" -> memory(Long.parseUnsignedLong(word(words, 1).replaceFirst("^0x", ""), 16), word(words, 2));
            case "processes" ->
                LiveProcesses.at(request.recordings(), request.facts().run(), event.index())
                        .forEach((pid, program) -> say(Long.toString(pid), program));
            case "console" -> say("console", written(VmRequest.CONSOLE));
            case "output" -> say("output", written(VmRequest.STDIO));
            case "disk" ->
                say("disk", "blackbox disk " + request.facts().run() + " --at " + event.index() + " --list /");
            case "finish" -> {
                say("finished", Boolean.toString(landed.machine().finish(PATIENCE)));
                return false;
            }
            case "help" -> HELP.forEach(line -> say("help", line));
            default -> throw new IllegalArgumentException("there is no command '" + words[0] + "'; help lists them");
        }
        return true;
    }

    private void arrive(String why) throws VmException {
        if (!json) {
            out.println("run           " + request.facts().run());
            out.println("tier          exact: " + why);
        }
        where();
        if (!json) {
            out.println(
                    "debugger      gdb -ex 'target remote " + landed.machine().debugger() + "'   (another terminal)");
            HELP.forEach(line -> out.println("              " + line));
        }
        out.flush();
    }

    private void where() throws VmException {
        long position = landed.machine().position();
        if (json) {
            ObjectNode node = new ObjectMapper().createObjectNode();
            node.put("run", request.facts().run().value()).put("tier", "exact");
            node.put("index", event.index()).put("event", event.line().strip());
            node.put("instruction", position).put("instructions", landed.end());
            node.put("gdb", landed.machine().debugger().toString()).put("egressPackets", 0);
            out.println(node);
            return;
        }
        out.println("landed        " + event.line().strip());
        String exactly = position == landed.position() ? ", as the kernel reports this event" : "";
        out.println("instruction   " + position + " of " + landed.end() + exactly);
    }

    private void next(@Nullable Kind kind) throws IOException, ReplayException, VmException {
        var found = FrameLookup.behind(request.recordings(), request.facts().run(), event.index(), kind);
        if (found == null) {
            throw new IllegalArgumentException("no such event follows");
        }
        land(found);
    }

    private void to(String text) throws IOException, ReplayException, VmException {
        var position =
                Moment.parse(text).locate(request.recordings(), request.facts().run());
        land(FrameLookup.at(request.recordings(), request.facts().run(), position.index()));
    }

    private void land(FrameLookup target) throws ReplayException, VmException {
        Landed there = lander.land(target.seq());
        landed.machine().close();
        landed = there;
        event = target;
        where();
    }

    /// Forward the machine goes on; back a fresh one is brought there.
    private void move(long instructions) throws VmException, ReplayException {
        long target = landed.machine().position() + instructions;
        if (target < 0 || target >= landed.end()) {
            throw new IllegalArgumentException("the recording has instructions 0 to " + (landed.end() - 1));
        }
        if (instructions >= 0) {
            landed.machine().runTo(target, PATIENCE);
        } else {
            SteppedMachine machine = lander.at(target);
            landed.machine().close();
            landed = new Landed(machine, landed.seq(), landed.position(), landed.end());
        }
        where();
    }

    private void registers() throws VmException {
        landed.machine().gdb().registers().values().forEach((name, value) -> say(name, "%016x".formatted(value)));
    }

    private void memory(long address, String words) throws VmException {
        int length = Integer.parseInt(words);
        if (length < 1 || length > MEMORY_BYTES_MAX) {
            throw new IllegalArgumentException("a length from 1 to " + MEMORY_BYTES_MAX);
        }
        say(
                "%016x".formatted(address),
                HexFormat.of().formatHex(landed.machine().gdb().memory(address, length)));
    }

    /// Of a machine that went on from a kept one the file begins there; before that it is the recording's.
    private String written(String name) throws IOException {
        byte[] octets = Files.readAllBytes(landed.machine().capture(name));
        int from = Math.max(0, octets.length - OUTPUT_BYTES_MAX);
        return Printable.of(new String(octets, from, octets.length - from, StandardCharsets.UTF_8));
    }

    private static Kind kind(String name) {
        Kind kind = Kind.ofName(name.toLowerCase(Locale.ROOT));
        if (kind == null) {
            throw new IllegalArgumentException("there is no kind of event '" + name + "'");
        }
        return kind;
    }

    private static String word(String[] words, int at) {
        if (words.length <= at) {
            throw new IllegalArgumentException("'" + words[0] + "' needs more words; help lists them");
        }
        return words[at];
    }

    private static long number(String[] words) {
        return words.length > 1 ? Long.parseLong(words[1]) : 1;
    }

    private void say(String name, String value) {
        if (json) {
            out.println(new ObjectMapper().createObjectNode().put(name, value));
        } else {
            out.println("%-13s %s".formatted(name, value));
        }
    }

    @Override
    public void close() throws VmException {
        landed.machine().close();
    }
}
