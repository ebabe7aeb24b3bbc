package blackbox.cli.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.ExitCodes;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class StandardOutputTest {
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private final PrintStream err = new PrintStream(said, true, StandardCharsets.UTF_8);

    @Test
    void anAnswerThatDoesNotFitOnTheDiskIsNoSuccess() throws Exception {
        try (var full = new FileOutputStream("/dev/full")) {
            assertEquals(ExitCodes.FAILED, printedTo(full).code(ExitCodes.OK, false, err));
        }
        assertTrue(said.toString(StandardCharsets.UTF_8).contains("No space left on device"), said::toString);
    }

    @Test
    void anAgentsOwnExitCodeStays() throws Exception {
        try (var full = new FileOutputStream("/dev/full")) {
            assertEquals(0, printedTo(full).code(0, true, err));
            assertEquals(7, printedTo(full).code(7, true, err));
        }
    }

    @Test
    void aReaderWhoHasSeenEnoughIsNoFailure() {
        var gone = new OutputStream() {
            @Override
            public void write(int octet) throws IOException {
                throw new IOException("Broken pipe");
            }
        };
        assertEquals(ExitCodes.OK, printedTo(gone).code(ExitCodes.OK, false, err));
        assertEquals(0, said.size());
    }

    @Test
    void whatIsPrintedArrives() {
        var there = new ByteArrayOutputStream();
        assertEquals(ExitCodes.OK, printedTo(there).code(ExitCodes.OK, false, err));
        assertEquals("ä1\n", there.toString(StandardCharsets.UTF_8));
    }

    private static StandardOutput printedTo(OutputStream out) {
        var standard = new StandardOutput(out);
        standard.stream(StandardCharsets.UTF_8).print("ä1\n");
        return standard;
    }
}
