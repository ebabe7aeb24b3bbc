package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.evidence.store.Recordings;
import blackbox.recorder.capture.OutputPiece;
import blackbox.recorder.capture.PrintedStream;
import blackbox.recorder.capture.TerminalCast;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.CaptureSegment;
import blackbox.replay.capture.SealedCapture;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// Files that are stored beside a run's events: what the agent printed, and what the events say of all of them.
final class CaptureTargets {
    private static final RunId RUN = new RunId("01kaj3v4e00000000000000001");
    private static final Path NO_DATA = Path.of("target/no-data-folder");
    private static final ObjectMapper JSON = new ObjectMapper();

    private CaptureTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of("output", 4 << 10, CaptureTargets::output, CaptureTargets::outputs, IOException.class),
                FuzzTarget.of(
                        "capture", 4 << 10, CaptureTargets::capture, CaptureTargets::captures, ReplayException.class),
                FuzzTarget.of("asciicast", 2 << 10, CaptureTargets::cast, CaptureTargets::casts));
    }

    /// A file of what an agent printed, in two pieces: the first octet says where the second begins.
    private static boolean output(byte[] octets) throws IOException {
        if (octets.length == 0) {
            return false;
        }
        int split = Math.min(octets.length, 1 + (octets[0] & 0xff));
        var decoder = new OutputPiece.Decoder(PrintedStream.STDOUT);
        long last = -1;
        long printed = 0;
        for (ByteBuffer part :
                List.of(ByteBuffer.wrap(octets, 1, split - 1), ByteBuffer.wrap(octets, split, octets.length - split))) {
            decoder.take(part);
            for (OutputPiece piece = decoder.next(); piece != null; piece = decoder.next()) {
                ensure(piece.number() > last && piece.bytes() > 0, "pieces are out of order, or empty");
                last = piece.number();
                printed += piece.bytes() + OutputPiece.HEADER_BYTES;
            }
        }
        ensure(printed + decoder.incompleteBytes() <= octets.length, "more was printed than there is");
        return last >= 0;
    }

    private static Map<String, byte[]> outputs() {
        ByteBuffer file = ByteBuffer.allocate(200);
        file.put((byte) 60).put(ascii(OutputPiece.VERSION_LINE));
        for (int i = 0; i < 3; i++) {
            file.putLong(1_000 + i).putLong(2L * i).putInt(4).put(ascii("line"));
        }
        return Map.of("three-pieces", Arrays.copyOf(file.array(), file.position()));
    }

    /// The details of the events that seal one file, a line for each.
    private static boolean capture(byte[] octets) throws ReplayException {
        var collector = new SealedCapture.Collector(Recordings.unchecked(NO_DATA), RUN);
        var row = new Row();
        long index = 0;
        for (String line : new String(octets, StandardCharsets.UTF_8).split("\n", -1)) {
            row.clear().set(Column.KIND, Kind.VM_CAPTURE.code()).set(Column.AT_NS, 1_000 + index);
            row.set(Column.WHAT, Text.of("blocks")).set(Column.DETAIL, line);
            collector.see(row, index++);
        }
        long end = 0;
        for (SealedCapture capture : collector.captures().values()) {
            for (CaptureSegment segment : capture.segments()) {
                ensure(segment.from() == end && segment.to() > end, "segments leave something out, or overlap");
                end = segment.to();
            }
            ensure(capture.sealedBytes() == end, "more is sealed than segments say");
        }
        return end > 0;
    }

    private static Map<String, byte[]> captures() {
        String digest = "ab".repeat(32);
        String segment = "{\"from\":%d,\"to\":%d,\"sha256\":\"" + digest + "\",\"readNs\":900,\"syncedNs\":800}";
        return Map.of(
                "ended",
                ascii(segment.formatted(0, 512) + "\n" + segment.formatted(512, 1_024)
                        + "\n{\"ended\":1024,\"why\":\"its limit\"}"));
    }

    /// What a terminal is given in two pieces, and a change of its size between them.
    private static boolean cast(byte[] octets) throws IOException {
        Path path = Scratch.file("asciicast", new byte[0]);
        Files.delete(path);
        int split = octets.length / 2;
        try (var cast = new TerminalCast(path, 1 << 16, 80, 24, "xterm", 1_700_000_000L, () -> 0)) {
            cast.output(Arrays.copyOf(octets, split));
            cast.resized(100, 30);
            cast.output(Arrays.copyOfRange(octets, split, octets.length));
        }
        var shown = new StringBuilder();
        List<String> lines = Files.readAllLines(path, StandardCharsets.UTF_8);
        ensure(JSON.readTree(lines.getFirst()).path("version").asInt() == 2, "it does not begin as an asciicast");
        for (String line : lines.subList(1, lines.size())) {
            JsonNode event = JSON.readTree(line);
            ensure(
                    event.isArray()
                            && event.size() == 3
                            && event.path(0).isNumber()
                            && event.path(2).isTextual(),
                    "a line is no event");
            shown.append(event.path(1).asText().equals("o") ? event.path(2).asText() : "");
        }
        try {
            String whole = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(octets))
                    .toString();
            ensure(shown.toString().equals(whole), "another text is shown than was printed");
        } catch (CharacterCodingException _) {
            return false;
        }
        return true;
    }

    private static Map<String, byte[]> casts() {
        return Map.of(
                "colours",
                "\u001b[31mred\u001b[0m\r\n\u00e4\u20ac\ud83d\ude00 \"quoted\" \\".getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
