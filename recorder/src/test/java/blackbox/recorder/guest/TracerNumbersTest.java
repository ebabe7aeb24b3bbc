package blackbox.recorder.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.schemas.event.Kind;
import blackbox.schemas.wire.FrameType;
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

/// Frames and kinds are declared in Java, in the tracer's C and on the pages of `schemas/`: nothing but this test
/// keeps them together.
final class TracerNumbersTest {

    private static final Map<String, Integer> FRAMES =
            new TreeMap<>(Stream.of(FrameType.values()).collect(Collectors.toMap(FrameType::name, FrameType::code)));

    @Test
    void theTracerNumbersFramesAsTheDecoderDoes() throws IOException {
        var defined = new TreeMap<String, Integer>();
        matches("tracer/tracer.c", "#define F_(\\w+) (\\d+)")
                .forEach(match -> defined.put(match[0], Integer.valueOf(match[1])));
        assertEquals(FRAMES, defined);
    }

    @Test
    void thePageOfFramesHasAllOfThem() throws IOException {
        var listed = new TreeMap<String, Integer>();
        matches("../schemas/wire.md", "(?m)^\\| ([0-9, ]+) \\| ([A-Z_, ]+) \\|[^|\\n]*\\|[^|\\n]*\\|$")
                .forEach(match -> {
                    String[] names = match[1].split(", ");
                    String[] numbers = match[0].split(", ");
                    for (int i = 0; i < names.length; i++) {
                        listed.put(names[i], Integer.valueOf(numbers[i]));
                    }
                });
        assertEquals(FRAMES, listed);
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

    /// Both groups of every match.
    private static Stream<String[]> matches(String file, String pattern) throws IOException {
        return Pattern.compile(pattern)
                .matcher(Files.readString(Path.of(file)))
                .results()
                .map(result -> new String[] {result.group(1), result.group(2)});
    }
}
