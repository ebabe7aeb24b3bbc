package blackbox.bench.work;

import blackbox.schemas.wire.FrameType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A `blackbox replay RUN --to INDEX --json` that is paused, or that said why it cannot be.
public final class PausedReplay implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int PIECE_OCTETS = 4_096;
    private static final int FRAME_OCTETS_MAX = 1 << 17;
    private static final int TYPE_AT = 6;

    private final Process process;
    private final BufferedReader answers;
    private final PrintWriter commands;
    private final @Nullable JsonNode place;
    private final Duration took;

    private PausedReplay(Process process, long start) throws IOException {
        this.process = process;
        this.answers = process.inputReader(StandardCharsets.UTF_8);
        this.commands = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        String first = answers.readLine();
        this.took = Duration.ofNanos(System.nanoTime() - start);
        JsonNode said = first == null ? null : JSON.readTree(first);
        this.place = said == null || !said.has("instruction") ? null : said;
    }

    /// Starts it and waits for its first answer.
    public static PausedReplay start(List<String> command) throws IOException {
        long start = System.nanoTime();
        return new PausedReplay(
                new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start(),
                start);
    }

    /// How long that took.
    public Duration took() {
        return took;
    }

    /// Whether it is paused at a moment; else it said why not.
    public boolean hasLanded() {
        return place != null;
    }

    /// Whether it is paused at the last event before the one that was asked for, because nothing can stop at
    /// that one.
    public boolean saysThatItIsElsewhere() {
        return place != null && place.path("asked").asLong() > place.path("index").asLong();
    }

    /// Whether the guest's kernel is there about to report this event: it reads the frame that is handed to the
    /// ring from the paused machine's memory, and compares its type, and that the file's name is in it.
    ///
    /// @param event as `blackbox events --json` prints it
    public boolean isAt(JsonNode event) throws IOException {
        if (place == null
                || place.path("index").asLong(-1) != event.path("index").asLong()) {
            return false;
        }
        JsonNode registers = ask("registers").path("registers");
        long at = Long.parseUnsignedLong(registers.path("rsi").asText(), 16);
        long length = Long.parseUnsignedLong(registers.path("rdx").asText(), 16);
        if (length <= TYPE_AT + 1 || length > FRAME_OCTETS_MAX) {
            return false;
        }
        byte[] frame = memory(at, (int) length);
        int type = Byte.toUnsignedInt(frame[TYPE_AT]) | Byte.toUnsignedInt(frame[TYPE_AT + 1]) << Byte.SIZE;
        String path = event.path("path").asText(event.path("exe").asText());
        String name = path.substring(path.lastIndexOf('/') + 1);
        return types(event.path("kind").asText()).contains(type)
                && new String(frame, StandardCharsets.ISO_8859_1)
                        .contains(new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1));
    }

    /// The types of the frames of which events of a kind are made.
    private static Set<Integer> types(String kind) {
        return switch (kind) {
            case "process.exec" -> Set.of(FrameType.EXEC.code(), FrameType.EXEC_FAILED.code());
            case "privilege.use" -> Set.of(FrameType.PRIVILEGE.code(), FrameType.SOCKET.code());
            case "dns.query" -> Set.of(FrameType.DNS.code());
            case "cred.change" -> Set.of(FrameType.CRED.code());
            default ->
                Set.of(FrameType.valueOf(kind.substring(kind.indexOf('.') + 1).toUpperCase(Locale.ROOT))
                        .code());
        };
    }

    private byte[] memory(long at, int length) throws IOException {
        var octets = new byte[length];
        for (int from = 0; from < length; from += PIECE_OCTETS) {
            int piece = Math.min(PIECE_OCTETS, length - from);
            JsonNode memory = ask("memory %x %d".formatted(at + from, piece)).path("memory");
            byte[] read = HexFormat.of().parseHex(memory.path("octets").asText());
            System.arraycopy(read, 0, octets, from, Math.min(piece, read.length));
        }
        return octets;
    }

    private JsonNode ask(String command) throws IOException {
        commands.println(command);
        String answer = answers.readLine();
        if (answer == null) {
            throw new IOException("the replay ended when it was asked for '" + command + "'");
        }
        return JSON.readTree(answer);
    }

    /// Ends it and waits for that.
    @Override
    public void close() throws IOException {
        commands.println("quit");
        commands.close();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
        }
        answers.close();
    }
}
