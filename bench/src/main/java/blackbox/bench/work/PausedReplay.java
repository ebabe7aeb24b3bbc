package blackbox.bench.work;

import blackbox.schemas.wire.Frame;
import blackbox.schemas.wire.FrameType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A `blackbox replay RUN --to INDEX --json` that is paused, or that said why it cannot be.
public final class PausedReplay implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int PIECE_OCTETS = 4_096;
    /// The exit code for a moment that the re-execution does not have.
    private static final int PARTED = 1;

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

    /// Whether it ended as one does that says why it cannot be there.
    public boolean refuses() throws InterruptedException {
        return place == null && process.waitFor() == PARTED;
    }

    /// Whether it is paused at the last event before the one that was asked for, because nothing can stop at
    /// that one.
    public boolean saysThatItIsElsewhere() {
        return place != null
                && place.path("asked").asLong() > place.path("index").asLong();
    }

    /// Where a paused machine is, by what its kernel is about to report.
    public enum At {
        /// At the event, with all that the recording says of it.
        THE_EVENT,
        /// At the event, where something that the agent chose at random or that is numbered has another name, and the
        /// replay said which.
        ITS_COUNTERPART,
        ELSEWHERE
    }

    /// Compares an event with the frame that is handed to the ring, which it reads from the paused machine's memory:
    /// type, result, every name of the path, and of folded reads and writes the octets.
    ///
    /// @param event as `blackbox events --json` prints it; one that names a file or a program
    public At at(JsonNode event) throws IOException {
        if (place == null
                || place.path("index").asLong(-1) != event.path("index").asLong()) {
            return At.ELSEWHERE;
        }
        JsonNode registers = ask("registers").path("registers");
        long address = Long.parseUnsignedLong(registers.path("rsi").asText(), 16);
        long length = Long.parseUnsignedLong(registers.path("rdx").asText(), 16);
        if (length < Frame.HEADER_BYTES || length > Frame.BYTES_MAX) {
            return At.ELSEWHERE;
        }
        byte[] octets = memory(address, (int) length);
        Frame frame = Frame.parse(octets, 0, octets.length);
        if (frame == null) {
            return At.ELSEWHERE;
        }
        var text = new String(octets, StandardCharsets.ISO_8859_1);
        boolean same = types(event.path("kind").asText()).contains(frame.type())
                && (!event.has("ret") || event.path("ret").asLong() == frame.ret());
        for (String count : List.of("bytesRead", "bytesWritten")) {
            same &= !event.has(count) || text.contains(number(event.path(count).asLong()));
        }
        if (!same) {
            return At.ELSEWHERE;
        }
        String[] names = named(event).split("/");
        if (Arrays.stream(names).allMatch(name -> contains(text, name))) {
            return At.THE_EVENT;
        }
        return Arrays.stream(place.path("there").asText().split(" "))
                        .map(word -> word.split("/"))
                        .anyMatch(there -> isCounterpart(names, there)
                                && Arrays.stream(there).allMatch(name -> contains(text, name)))
                ? At.ITS_COUNTERPART
                : At.ELSEWHERE;
    }

    /// Whether two paths differ in one or two names, each of about the same length.
    private static boolean isCounterpart(String[] names, String[] there) {
        int others = 0;
        for (int i = 0; names.length == there.length && i < names.length; i++) {
            others += names[i].equals(there[i]) ? 0 : 1;
            if (Math.abs(names[i].length() - there[i].length()) > 2) {
                return false;
            }
        }
        return others == 1 || others == 2;
    }

    private static boolean contains(String frame, String name) {
        return frame.contains(new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1));
    }

    /// The file or program that an event names; empty if it names none.
    public static String named(JsonNode event) {
        return event.path("path").asText(event.path("exe").asText());
    }

    private static String number(long value) {
        byte[] octets = ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(value)
                .array();
        return new String(octets, StandardCharsets.ISO_8859_1);
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
