package blackbox.node.replay;

import blackbox.schemas.RunId;
import blackbox.vm.LineReader;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A replay or a landing that somebody asked a service for, in a process of its own, and what came of it. Any thread.
public final class StartedReplay {

    private static final ObjectMapper JSON = new ObjectMapper();
    /// Of a document; a verdict has some kilobytes.
    private static final int LINE_BYTES_MAX = 1 << 20;
    private static final int PROGRESS_BYTES_MAX = 4 << 10;
    private static final int COMMAND_CHARS_MAX = 200;
    private static final int ANSWERS_MAX = 50;
    private static final int ANSWERS_CHARS_MAX = 1 << 20;
    /// A process that was told to end has so long to end its machine.
    private static final Duration TIDY = Duration.ofSeconds(20);

    private static final String TOO_LONG =
            "{\"error\":\"the answer has more than " + LINE_BYTES_MAX + " octets; ask for it on the command line\"}";
    private static final String PROGRAM = "blackbox: ";
    /// Only the place where a landing is paused has this.
    private static final String OF_A_PLACE = "instruction";

    /// How far it is.
    public enum State {
        /// Others are before it.
        WAITING,
        RUNNING,
        /// It is paused at the moment, and can be asked.
        LANDED,
        ENDED,
        CANCELLED;

        /// The word in JSON.
        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// @param said a document
    private record Answer(String asked, String said) {}

    private final String id;
    private final RunId run;
    private final @Nullable String moment;
    private final String subject;
    private final InstantSource clock;
    /// Is told of each change; it must not ask anything of this.
    private final Runnable told;
    private final Instant askedAt;
    private final ArrayDeque<Answer> answers = new ArrayDeque<>();
    private State state = State.WAITING;
    private @Nullable Process process;
    private @Nullable Instant startedAt;
    private @Nullable Instant endedAt;
    private @Nullable Instant quietSince;
    private @Nullable Integer exitCode;
    private @Nullable String progress;
    private @Nullable String report;
    private @Nullable String place;
    private @Nullable String pending;
    private int answersChars;
    private int forgotten;
    /// Greater with each change.
    private int version;

    /// @param moment where to land, as [blackbox.replay.Moment] reads it; null for a replay of the whole
    /// @param subject who asked for it
    /// @param told of each change, whoever made it
    StartedReplay(String id, RunId run, @Nullable String moment, String subject, InstantSource clock, Runnable told) {
        this.id = id;
        this.run = run;
        this.moment = moment;
        this.subject = subject;
        this.clock = clock;
        this.told = told;
        this.askedAt = clock.instant();
    }

    public String id() {
        return id;
    }

    RunId run() {
        return run;
    }

    @Nullable
    String moment() {
        return moment;
    }

    synchronized State state() {
        return state;
    }

    synchronized boolean isOver() {
        return state == State.ENDED || state == State.CANCELLED;
    }

    /// Leaves it if it is paused and nobody has asked it anything since then.
    ///
    /// @param why what to say of it
    void leaveIfQuiet(Instant since, String why) {
        synchronized (this) {
            Instant quiet = quietSince;
            if (state != State.LANDED || pending != null || quiet == null || quiet.isAfter(since)) {
                return;
            }
            progress = why;
            state = State.ENDED;
            changed();
        }
        leave();
    }

    private synchronized void changed() {
        version++;
        told.run();
    }

    /// Runs to its end. Returns at once if it was cancelled while it waited.
    void run(ProcessBuilder builder) {
        Process started;
        synchronized (this) {
            if (state != State.WAITING) {
                return;
            }
            startedAt = clock.instant();
            try {
                started = builder.start();
            } catch (IOException e) {
                end(null, "it could not be started: " + e.getMessage());
                return;
            }
            state = State.RUNNING;
            process = started;
            changed();
        }
        String why = null;
        try {
            listen(started);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            why = "what it said could not be read: " + e.getMessage();
        } catch (RuntimeException | Error e) {
            why = "the service could not follow it: " + e;
            kill(started);
        } finally {
            finish(started);
            end(started.exitValue(), why);
        }
    }

    private void listen(Process started) throws IOException, InterruptedException {
        Thread errors = Thread.ofPlatform().daemon().start(() -> follow(started.getErrorStream()));
        if (moment == null) {
            started.getOutputStream().close(); // it asks for nothing
        }
        read(started.getInputStream());
        finish(started);
        errors.join(TIDY);
    }

    /// Waits until the process, which has closed its output or is not listened to any more, has ended.
    private static void finish(Process started) {
        try {
            if (started.waitFor(TIDY.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        kill(started);
        started.onExit().join();
    }

    private static void kill(Process started) {
        started.descendants().forEach(ProcessHandle::destroyForcibly);
        var _ = started.toHandle().destroyForcibly();
    }

    private synchronized void end(@Nullable Integer code, @Nullable String why) {
        if (state != State.CANCELLED) {
            state = State.ENDED;
        }
        exitCode = code;
        endedAt = clock.instant();
        pending = null;
        process = null;
        if (why != null) {
            progress = why;
        }
        changed();
    }

    private void follow(InputStream errors) {
        var lines = new LineReader(errors, PROGRESS_BYTES_MAX);
        try {
            for (String line = next(lines, ""); line != null; line = next(lines, "")) {
                tell(line.startsWith(PROGRAM) ? line.substring(PROGRAM.length()) : line);
            }
        } catch (IOException e) {
            tell("what it said could not be read: " + e.getMessage());
        }
    }

    private synchronized void tell(String line) {
        if (!line.isBlank()) {
            progress = line.strip();
            changed();
        }
    }

    private void read(InputStream said) throws IOException {
        var lines = new LineReader(said, LINE_BYTES_MAX);
        for (String line = next(lines, TOO_LONG); line != null; line = next(lines, TOO_LONG)) {
            if (line.isBlank()) {
                continue;
            }
            try {
                JsonNode document = JSON.readTree(line);
                take(document.toString(), document.has(OF_A_PLACE));
            } catch (JsonProcessingException e) {
                throw new IOException("it is not JSON", e);
            }
        }
    }

    /// The next line; `instead` in the place of one that is too long, which is read to its end.
    private static @Nullable String next(LineReader lines, String instead) throws IOException {
        boolean cut = false;
        while (true) {
            try {
                String line = lines.next();
                return cut && line != null ? instead : line;
            } catch (LineReader.TooLongException e) {
                cut = true;
            }
        }
    }

    private synchronized void take(String document, boolean isPlace) {
        if (isPlace) {
            place = document;
        }
        if (state == State.RUNNING && moment != null && isPlace) {
            state = State.LANDED;
            quietSince = clock.instant();
        } else if (pending != null) {
            answers.add(new Answer(pending, document));
            answersChars += document.length();
            pending = null;
            quietSince = clock.instant();
            while (answers.size() > ANSWERS_MAX || answersChars > ANSWERS_CHARS_MAX && answers.size() > 1) {
                answersChars -= answers.remove().said().length();
                forgotten++;
            }
        } else if (!isPlace) {
            report = document;
        }
        changed();
    }

    /// One of the commands of [DebugSession], without what is around it.
    ///
    /// @throws IllegalArgumentException if it is no line, or too long
    public static String command(String line) {
        String command = line.strip();
        if (command.isEmpty()
                || command.length() > COMMAND_CHARS_MAX
                || command.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    "a command is one line of at most " + COMMAND_CHARS_MAX + " characters; `help` lists them");
        }
        return command;
    }

    /// Asks a landing; the answer is part of what it writes once it is there. False if it cannot be asked now:
    /// it has not landed, is over, or still answers.
    ///
    /// @param command as of [#command]
    public boolean ask(String command) {
        synchronized (this) {
            Process asked = process;
            if (state != State.LANDED || pending != null || asked == null) {
                return false;
            }
            pending = command;
            try {
                OutputStream in = asked.getOutputStream(); // a pipe has room for so short a line
                in.write((command + "\n").getBytes(StandardCharsets.UTF_8));
                in.flush();
                changed();
                return true;
            } catch (IOException e) {
                pending = null;
                return false; // it has just ended
            }
        }
    }

    /// Ends it; false if it was over.
    public boolean cancel() {
        boolean landed;
        boolean answers;
        synchronized (this) {
            if (isOver()) {
                return false;
            }
            landed = state == State.LANDED;
            answers = pending != null;
            state = landed ? State.ENDED : State.CANCELLED;
            if (process == null) {
                endedAt = clock.instant();
            }
            changed();
        }
        if (landed && !answers) {
            leave();
        } else {
            breakOff();
        }
        return true;
    }

    /// A landing ends with its input, once it has answered.
    private void leave() {
        Process landed = running();
        if (landed == null) {
            return;
        }
        try {
            landed.getOutputStream().close();
            Thread.ofPlatform().daemon().start(() -> finish(landed));
        } catch (IOException e) {
            breakOff(); // it reads no more
        }
    }

    private void breakOff() {
        Process broken = running();
        if (broken != null) {
            var _ = broken.toHandle().destroy(); // Process#destroy would close what is still being read
            Thread.ofPlatform().daemon().start(() -> finish(broken));
        }
    }

    private synchronized @Nullable Process running() {
        return process;
    }

    /// As an object.
    ///
    /// @param whole with what was reported and answered
    public synchronized void write(JsonGenerator out, boolean whole) throws IOException {
        out.writeStartObject();
        out.writeStringField("replay", id);
        out.writeNumberField("version", version);
        out.writeStringField("run", run.value());
        out.writeStringField("to", moment);
        out.writeStringField("state", state.word());
        out.writeStringField("by", subject);
        time(out, "askedAt", askedAt);
        time(out, "startedAt", startedAt);
        time(out, "endedAt", endedAt);
        out.writeStringField("progress", progress);
        if (exitCode == null) {
            out.writeNullField("exitCode");
        } else {
            out.writeNumberField("exitCode", exitCode);
        }
        if (whole) {
            document(out, "report", report);
            document(out, "place", place);
            out.writeStringField("pending", pending);
            out.writeNumberField("answersForgotten", forgotten);
            out.writeArrayFieldStart("answers");
            for (Answer each : answers) {
                out.writeStartObject();
                out.writeStringField("asked", each.asked());
                document(out, "answer", each.said());
                out.writeEndObject();
            }
            out.writeEndArray();
        }
        out.writeEndObject();
    }

    private static void time(JsonGenerator out, String name, @Nullable Instant at) throws IOException {
        out.writeStringField(name, at == null ? null : at.toString());
    }

    private static void document(JsonGenerator out, String name, @Nullable String json) throws IOException {
        out.writeFieldName(name);
        out.writeRawValue(json == null ? "null" : json);
    }
}
