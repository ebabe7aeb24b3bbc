package blackbox.recorder.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.schemas.event.Kind;
import blackbox.schemas.wire.FrameType;
import blackbox.schemas.wire.TlvType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Frames, their TLVs and kinds are declared in Java, in the tracer's C and on the pages of `schemas/`: nothing but
/// this test keeps them together.
final class TracerNumbersTest {

    private static final Map<String, Integer> FRAMES =
            new TreeMap<>(Stream.of(FrameType.values()).collect(Collectors.toMap(FrameType::name, FrameType::code)));

    private static final Map<String, Integer> TLVS =
            new TreeMap<>(Stream.of(TlvType.values()).collect(Collectors.toMap(TlvType::name, TlvType::code)));

    @Test
    void theTracerNumbersFramesAndTlvsAsTheDecoderDoes() throws IOException {
        assertEquals(FRAMES, defined("F_"));
        assertEquals(TLVS, defined("T_"));
    }

    @Test
    void thePageOfFramesHasAllFramesAndTlvs() throws IOException {
        assertEquals(FRAMES, listed("(?m)^\\| ([0-9, ]+) \\| ([A-Z_, ]+) \\|[^|\\n]*\\|[^|\\n]*\\|$"));
        assertEquals(TLVS, listed("(?m)^\\| ([0-9, ]+) \\| ([A-Z_, ]+) \\|[^|\\n]*\\|$"));
    }

    @Test
    void thePageOfEventsHasAllKinds() throws IOException {
        Set<String> kinds =
                Stream.of(Kind.values()).map(Kind::eventName).collect(Collectors.toCollection(TreeSet::new));
        var listed = new TreeSet<String>();
        matches("../schemas/events.md", "(?m)^\\| ([a-z]+\\.[a-z., ]+)() \\|")
                .forEach(match -> listed.addAll(Set.of(match[0].split(", "))));
        assertEquals(kinds, listed);
    }

    /// What the tracer's source defines with this prefix.
    private static Map<String, Integer> defined(String prefix) throws IOException {
        var defined = new TreeMap<String, Integer>();
        matches("tracer/tracer.c", "#define " + prefix + "(\\w+) (\\d+)")
                .forEach(match -> defined.put(match[0], Integer.valueOf(match[1])));
        return defined;
    }

    /// What the tables of this form on the page of frames list: numbers, then as many names.
    private static Map<String, Integer> listed(String row) throws IOException {
        var listed = new TreeMap<String, Integer>();
        matches("../schemas/wire.md", row).forEach(match -> {
            String[] names = match[1].split(", ");
            String[] numbers = match[0].split(", ");
            for (int i = 0; i < names.length; i++) {
                listed.put(names[i], Integer.valueOf(numbers[i]));
            }
        });
        return listed;
    }

    /// Both groups of every match.
    private static Stream<String[]> matches(String file, String pattern) throws IOException {
        return Pattern.compile(pattern)
                .matcher(Files.readString(Path.of(file)))
                .results()
                .map(result -> new String[] {result.group(1), result.group(2)});
    }
}
