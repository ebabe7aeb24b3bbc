package blackbox.replay.output;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.query.run.RunState;
import blackbox.recorder.capture.OutputPiece;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.Payload;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The pieces of both streams in their order, from what is sealed and was checked.
class PrintedPiecesTest {
    private static final PrintedStream OUT = PrintedStream.STDOUT;
    private static final PrintedStream ERR = PrintedStream.STDERR;

    @TempDir
    Path folder;

    private KeptRun run;
    private PrintedPieces both;

    @BeforeEach
    void begin() throws Exception {
        run = new KeptRun(folder, 1 << 20);
        both = pieces(OUT, ERR);
    }

    @AfterEach
    void end() throws Exception {
        both.close();
        run.close();
    }

    private PrintedPieces pieces(PrintedStream first, PrintedStream... further) {
        return new PrintedPieces(EnumSet.of(first, further), name -> Payload.of(run.recordings(), KeptRun.RUN, name));
    }

    private static String inTurn(PrintedPieces pieces) throws Exception {
        var text = new StringBuilder();
        for (OutputPiece piece = pieces.nextInTurn(); piece != null; piece = pieces.nextInTurn()) {
            text.append(piece.text());
        }
        return text.toString();
    }

    private static String all(PrintedPieces pieces) throws Exception {
        var text = new StringBuilder();
        for (OutputPiece piece = pieces.next(); piece != null; piece = pieces.next()) {
            text.append(piece.text());
        }
        return text.toString();
    }

    @Test
    void bothStreamsComeInTheOrderInWhichTheyWereReceived() throws Exception {
        run.print(ERR, "1");
        run.print(OUT, "2");
        run.print(OUT, "3");
        run.print(ERR, "4");
        run.print(OUT, "5");
        both.extend(run.captures());
        assertEquals("12345", all(both));
        try (var out = pieces(OUT)) {
            out.extend(run.captures());
            assertEquals("235", all(out));
            assertTrue(out.isExhausted(OUT));
        }
    }

    /// While the run goes on, one stream may be sealed further than the other.
    @Test
    void aPieceWaitsForTheOnesBeforeIt() throws Exception {
        run.print(OUT, "1");
        run.seal(OUT);
        run.print(OUT, "2");
        run.print(ERR, "3");
        run.print(ERR, "4");
        run.seal(ERR);
        both.extend(run.sealed());
        assertEquals("1", inTurn(both));
        assertFalse(both.isExhausted(ERR));
        try (var err = pieces(ERR)) {
            err.extend(run.sealed());
            assertEquals("34", inTurn(err), "alone it waits for nothing");
        }
        run.print(OUT, "5");
        run.seal(OUT);
        both.extend(run.sealed());
        assertEquals("2345", inTurn(both));
        // At the end nothing is waited for anymore, be it ever so incomplete.
        run.print(OUT, "6");
        run.print(ERR, "7");
        run.seal(ERR);
        both.extend(run.sealed());
        assertEquals("", inTurn(both));
        assertEquals("7", all(both));
    }

    @Test
    void aPieceThatTwoSegmentsShareIsWhole() throws Exception {
        run.print(OUT, "before");
        run.seal(OUT);
        byte[] whole = Files.readAllBytes(KeptRun.file(folder, OUT));
        run.print(OUT, "a second piece");
        byte[] more = Files.readAllBytes(KeptRun.file(folder, OUT));
        // As if it had been sealed while the piece was being written.
        Files.write(KeptRun.file(folder, OUT), Arrays.copyOf(more, whole.length + 11));
        run.seal(OUT);
        both.extend(run.sealed());
        assertEquals("before", inTurn(both));
        assertTrue(both.isExhausted(OUT));
        Files.write(KeptRun.file(folder, OUT), more);
        run.seal(OUT);
        both.extend(run.sealed());
        assertEquals("a second piece", inTurn(both));
    }

    @Test
    void whatIsNotSealedIsNotGiven() throws Exception {
        run.print(OUT, "sealed");
        run.seal(OUT);
        run.print(OUT, "not sealed");
        both.extend(run.sealed());
        assertEquals("sealed", all(both));
    }

    @Test
    void anAlteredSegmentGivesNothingAndTheOnesBeforeItCount() throws Exception {
        run.print(OUT, "first");
        run.seal(OUT);
        run.print(OUT, "second");
        run.seal(OUT);
        byte[] octets = Files.readAllBytes(KeptRun.file(folder, OUT));
        octets[octets.length - 1] ^= 1;
        Files.write(KeptRun.file(folder, OUT), octets);
        both.extend(run.sealed());
        assertEquals("first", Objects.requireNonNull(both.next()).text());
        var failure = assertThrows(ReplayException.class, () -> both.next());
        assertEquals(Code.ALTERED, failure.code());
        assertTrue(
                String.valueOf(failure.getMessage()).contains("is not what was sealed: event 1"), failure.getMessage());
    }

    @Test
    void aFileThatIsTooShortOrGoneIsMissing() throws Exception {
        run.print(OUT, "first");
        run.seal(OUT);
        Path file = KeptRun.file(folder, OUT);
        byte[] octets = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(octets, octets.length - 1), StandardOpenOption.TRUNCATE_EXISTING);
        both.extend(run.sealed());
        var failure = assertThrows(ReplayException.class, () -> both.next());
        assertEquals(Code.MISSING, failure.code());
        Files.delete(file);
        try (var gone = pieces(OUT)) {
            gone.extend(run.sealed());
            assertEquals(
                    Code.MISSING,
                    assertThrows(ReplayException.class, gone::next).code());
        }
    }

    /// Sealed octets of another kind, as from a newer recorder.
    @Test
    void anotherFormIsRefused() throws Exception {
        Files.writeString(KeptRun.file(folder, OUT), "blackbox-output-v2\nand so on");
        run.seal(OUT);
        both.extend(run.sealed());
        var failure = assertThrows(ReplayException.class, () -> both.next());
        assertTrue(String.valueOf(failure.getMessage()).contains("a newer Blackbox wrote it"), failure.getMessage());
    }

    @Test
    void aFileThatIsEncryptedMeanwhileGoesOn() throws Exception {
        run.print(OUT, "first");
        run.seal(OUT);
        both.extend(run.sealed());
        assertEquals("first", inTurn(both));
        run.print(OUT, "second");
        run.seal(OUT);
        Payload.of(run.recordings(), KeptRun.RUN, "stdout").vault().encrypt(KeptRun.RUN, _ -> {});
        assertFalse(Files.exists(KeptRun.file(folder, OUT)));
        both.extend(run.sealed());
        assertEquals("second", inTurn(both));
        try (var later = pieces(OUT)) {
            later.extend(run.sealed());
            assertEquals("firstsecond", inTurn(later));
        }
    }

    @Test
    void theOctetsOfAStreamAreOneInput() throws Exception {
        run.print(OUT, "one ");
        run.print(ERR, "not this ");
        run.print(OUT, "two");
        var recorded = new RecordedOutput(KeptRun.facts(RunState.OPEN, "{}"), run.captures());
        try (InputStream in = recorded.open(OUT)) {
            assertEquals('o', in.read());
            assertArrayEquals("ne two".getBytes(StandardCharsets.UTF_8), in.readAllBytes());
            assertEquals(-1, in.read());
        }
        assertEquals(1_000, Objects.requireNonNull(recorded.pieceWith(OUT, 3)).atNs());
        assertEquals(3_000, Objects.requireNonNull(recorded.pieceWith(OUT, 4)).atNs());
        assertNull(recorded.pieceWith(OUT, 7));
        byte[] octets = Files.readAllBytes(KeptRun.file(folder, OUT));
        octets[octets.length - 1] ^= 1;
        Files.write(KeptRun.file(folder, OUT), octets);
        try (InputStream in = recorded.open(OUT)) {
            assertThrows(IOException.class, in::readAllBytes);
        }
    }
}
