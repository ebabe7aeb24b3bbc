package blackbox.node.replay;

import blackbox.replay.Moment;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.landing.Landing;
import blackbox.replay.seek.FrameLookup;
import blackbox.replay.seek.GuestOutput;
import blackbox.replay.seek.LiveProcesses;
import blackbox.replay.seek.Seeker;
import blackbox.replay.seek.Seeker.Paused;
import blackbox.schemas.Progress;
import blackbox.schemas.event.Kind;
import blackbox.vm.VmException;
import blackbox.vm.replay.SteppedMachine;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// A replay that is paused at a moment, and the commands that inspect it: one command per line until the
/// input ends, and one answer for each. Nothing done here changes the recording, and there is no network.
public final class DebugSession implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final int MEMORY_BYTES_MAX = 4_096;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> HELP = List.of(
            "where                  show the current position",
            "next [KIND]            go to the next event, or the next of a kind such as process.exec",
            "to INDEX|TIME          go to another moment of this run",
            "step [N], back [N]     go N instructions forward or back (default: 1)",
            "registers              show the processor's registers",
            "memory ADDRESS LENGTH  show memory as the program that runs now sees it; ADDRESS in hex",
            "processes              list the processes alive now, by the recorded events",
            "console, output        show what the guest's console and the agent have printed so far",
            "disk                   print the command that shows the disk at this event",
            "finish                 run to the end of the recording",
            "quit                   (leave gdb with `disconnect`; `detach` would let the guest continue)");

    private final Landing landing;
    private final Seeker seeker;
    private final DebugReport report;
    private Paused paused;
    private FrameLookup event;
    /// The event that was asked for: at some nothing can stop.
    private long asked;

    private @Nullable IdleIndex idle;
    private volatile boolean asking;
    private boolean misunderstood;

    private DebugSession(
            Landing landing, Seeker seeker, DebugReport report, Paused paused, FrameLookup event, long asked) {
        this.landing = landing;
        this.seeker = seeker;
        this.report = report;
        this.paused = paused;
        this.event = event;
        this.asked = asked;
    }

    /// Seeks to an event.
    ///
    /// @param index of an event
    /// @param progress receives progress
    /// @throws ReplayException `BAD_INPUT` for a recording that does not record where its frames are emitted;
    ///     `PARTED` when the re-execution that is landed in does not have the event
    public static DebugSession at(Landing landing, long index, DebugReport report, Progress progress)
            throws ReplayException, IOException {
        var event = landing.at(index);
        Seeker seeker = landing.seeker(progress);
        return new DebugSession(landing, seeker, report, seeker.seek(event.seq()), event, index);
    }

    /// From now on, the rest of the run is indexed while no command has come for a while. What is answered does
    /// not depend on it.
    ///
    /// @param after how long that is
    /// @param progress is told if the run cannot be indexed
    public void indexWhileIdle(Duration after, Progress progress) {
        idle = new IdleIndex(landing, after, progress);
    }

    /// Prints where it is, and then answers commands until `in` ends.
    ///
    /// @param why why the run is replayed exactly, for people
    /// @throws ReplayException `ENGINE` when the machine fails
    public void answer(BufferedReader in, String why) throws IOException, ReplayException {
        try {
            report.arrival(landing.run(), why, place(), paused.machine().debugger(), HELP);
            release();
            for (String line = ask(in); line != null; line = ask(in)) {
                String[] words = line.strip().split("\\s+", -1);
                if (words[0].equals("quit")) {
                    return;
                }
                if (!answer(words)) {
                    return;
                }
                release();
            }
        } catch (VmException e) {
            throw new ReplayException(Code.ENGINE, "the replay failed: " + e.getMessage(), e);
        }
    }

    /// Whether a command was unknown, or asked for something that the recording does not have.
    public boolean misunderstood() {
        return misunderstood;
    }

    /// Whether it is waiting for the next command, with nothing running but what indexes the run.
    public boolean isAsking() {
        return asking;
    }

    private @Nullable String ask(BufferedReader in) throws IOException {
        report.prompt(event.index());
        asking = true;
        if (idle != null) {
            idle.begin();
        }
        try {
            return in.readLine();
        } finally {
            if (idle != null) {
                idle.end();
            }
            asking = false;
        }
    }

    /// Frees the machine's debugger socket for another client.
    private void release() throws VmException {
        paused.machine().release();
    }

    /// Answers a command; a bad command is reported and leaves the machine where it is. False when the
    /// session has ended.
    private boolean answer(String[] words) throws VmException, IOException, ReplayException {
        try {
            return obey(words);
        } catch (ReplayException e) {
            if (e.code() != Code.BAD_INPUT && e.code() != Code.PARTED) {
                throw e;
            }
            refuse(e);
        } catch (VmException e) {
            if (e.code() != VmException.Code.GUEST_FAILED && e.code() != VmException.Code.BUSY) {
                throw e;
            }
            report.fault(e);
        } catch (IllegalArgumentException e) {
            refuse(e);
        }
        return true;
    }

    private void refuse(Exception asked) {
        misunderstood = true;
        report.fault(asked);
    }

    private boolean obey(String[] words) throws VmException, IOException, ReplayException {
        switch (words[0]) {
            case "" -> {}
            case "where" -> report.place(place());
            case "next" -> next(words.length > 1 ? kind(words[1]) : null);
            case "to" -> to(word(words, 1));
            case "step" -> move(number(words));
            case "back" -> move(-number(words));
            case "registers" -> registers();
            case "memory" -> memory(Long.parseUnsignedLong(word(words, 1).replaceFirst("^0x", ""), 16), word(words, 2));
            case "processes" -> processes();
            case "console" -> report.answer(GuestOutput.console(landing.captures(), paused.machine()));
            case "output" -> report.answer(GuestOutput.agent(landing.captures(), paused.machine()));
            case "disk" -> {
                atEvent();
                report.answer(JSON.createObjectNode()
                        .put("disk", "blackbox disk " + landing.run() + " --at " + event.index() + " --list /"));
            }
            case "finish" -> {
                boolean finished = paused.machine().finish(PATIENCE);
                report.answer(JSON.createObjectNode().put("finished", finished));
                return false;
            }
            case "help" -> {
                ObjectNode answer = JSON.createObjectNode();
                HELP.forEach(answer.putArray("help")::add);
                report.answer(answer);
            }
            default -> throw new IllegalArgumentException("there is no command '" + words[0] + "'; help lists them");
        }
        return true;
    }

    private DebugReport.Place place() throws VmException {
        long position = paused.machine().position();
        return new DebugReport.Place(
                landing.run(),
                landing.agreement(),
                event,
                asked,
                position,
                paused.end(),
                paused.machine().beganAt(),
                position - paused.position(),
                paused.machine().debugger());
    }

    /// What the recorded events show is known only where the replay is at an event.
    private void atEvent() throws VmException {
        if (paused.machine().position() != paused.position()) {
            throw new IllegalArgumentException(
                    "the replay is not at an event here; `to " + event.index() + "` goes back to the last one");
        }
    }

    private void next(@Nullable Kind kind) throws IOException, ReplayException, VmException {
        atEvent();
        var found = landing.behind(event.index(), kind);
        if (found == null) {
            throw new IllegalArgumentException("no such event follows");
        }
        seek(found, found.index());
    }

    private void to(String text) throws IOException, ReplayException, VmException {
        var position = Moment.parse(text).locate(landing.recordings(), landing.run());
        seek(landing.at(position.index()), position.index());
    }

    private void seek(FrameLookup target, long wanted) throws ReplayException, VmException {
        replace(seeker.seek(target.seq()));
        event = target;
        asked = wanted;
        report.place(place());
    }

    private void replace(Paused there) throws VmException {
        SteppedMachine before = paused.machine();
        paused = there;
        before.close();
    }

    /// Forward, the same machine continues; backward, a new one is brought to the target.
    private void move(long instructions) throws VmException, ReplayException {
        long target = paused.machine().position() + instructions;
        if (target < 0 || target >= paused.end()) {
            throw new IllegalArgumentException("the recording has instructions 0 to " + (paused.end() - 1));
        }
        if (instructions < 0) {
            replace(new Paused(seeker.at(target), paused.seq(), paused.position(), paused.end()));
        } else if (!paused.machine().runTo(target, PATIENCE)) {
            throw new VmException(VmException.Code.QEMU_FAILED, paused.machine().lastWords());
        }
        report.place(place());
    }

    private void registers() throws VmException {
        ObjectNode answer = JSON.createObjectNode();
        ObjectNode values = answer.putObject("registers");
        paused.machine()
                .gdb()
                .registers()
                .values()
                .forEach((name, value) -> values.put(name, "%016x".formatted(value)));
        report.answer(answer);
    }

    private void memory(long address, String words) throws VmException {
        int length = Integer.parseInt(words);
        if (length < 1 || length > MEMORY_BYTES_MAX) {
            throw new IllegalArgumentException("the length must be from 1 to " + MEMORY_BYTES_MAX);
        }
        ObjectNode answer = JSON.createObjectNode();
        answer.putObject("memory")
                .put("address", "%016x".formatted(address))
                .put("octets", HexFormat.of().formatHex(paused.machine().gdb().memory(address, length)));
        report.answer(answer);
    }

    private void processes() throws VmException, IOException {
        atEvent();
        ObjectNode answer = JSON.createObjectNode();
        var processes = answer.putArray("processes");
        LiveProcesses.at(landing.recordings(), landing.run(), event.index())
                .forEach((pid, program) -> processes.addObject().put("pid", pid).put("exe", program));
        report.answer(answer);
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
            throw new IllegalArgumentException("'" + words[0] + "' is incomplete; help shows what it takes");
        }
        return words[at];
    }

    private static long number(String[] words) {
        return words.length > 1 ? Long.parseLong(words[1]) : 1;
    }

    @Override
    public void close() throws VmException {
        if (idle != null) {
            idle.end();
        }
        paused.machine().close();
    }
}
