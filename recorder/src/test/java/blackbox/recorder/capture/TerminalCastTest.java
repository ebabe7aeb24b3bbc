package blackbox.recorder.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TerminalCastTest {

    private static final String HEADER =
            "{\"version\":2,\"width\":80,\"height\":24,\"timestamp\":7,\"env\":{\"TERM\":\"xterm\"}}";

    @TempDir
    Path folder;

    private long nowNs;

    private TerminalCast cast(Path file, long bytesMax) throws Exception {
        return new TerminalCast(file, bytesMax, 80, 24, "xterm", 7, () -> nowNs);
    }

    private static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void aCharacterThatComesInTwoPiecesIsOne() throws Exception {
        Path file = folder.resolve("terminal");
        try (TerminalCast cast = cast(file, 1 << 20)) {
            nowNs = 1_500_000_000;
            cast.output(new byte[] {'a', (byte) 0xc3});
            nowNs = 2_000_000_000;
            cast.output(new byte[] {(byte) 0xa4, 27, '"'});
            cast.resized(100, 40);
            cast.output(new byte[] {(byte) 0xe2});
            assertNull(cast.cut());
        }
        assertEquals(
                List.of(
                        HEADER,
                        "[1.500000,\"o\",\"a\"]",
                        "[2.000000,\"o\",\"\u00e4\\u001B\\\"\"]",
                        "[2.000000,\"r\",\"100x40\"]",
                        "[2.000000,\"o\",\"\ufffd\"]"),
                Files.readAllLines(file));
    }

    /// What is there plays, and the run's close says that it is not all.
    @Test
    void itsLimitCutsWholeLinesAndIsTold() throws Exception {
        Path file = folder.resolve("terminal");
        try (TerminalCast cast = cast(file, HEADER.length() + 30)) {
            cast.output(octets("first"));
            assertNull(cast.cut());
            cast.output(octets("second"));
            cast.output(octets("3"));
            assertEquals("its limit was reached", cast.cut());
        }
        assertEquals(List.of(HEADER, "[0.000000,\"o\",\"first\"]"), Files.readAllLines(file));
    }

    @Test
    void aFileThatCannotBeWrittenIsTold() throws Exception {
        TerminalCast cast = cast(folder.resolve("terminal"), 1 << 20);
        cast.close();
        cast.output(octets("late"));
        assertTrue(String.valueOf(cast.cut()).startsWith("it could not be written: "), cast::cut);
    }
}
