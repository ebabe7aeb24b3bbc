package blackbox.recorder.capture;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.event.Event;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What an agent prints is kept octet for octet, with time and order, as `schemas/capture.md` says.
class KeptOutputTest {

    @TempDir
    Path folder;

    private final AtomicLong clock = new AtomicLong(1_000);
    private final ByteArrayOutputStream shown = new ByteArrayOutputStream();

    private KeptOutput keep(long bytesMax) {
        return new KeptOutput(folder, bytesMax, clock::getAndIncrement);
    }

    private static void print(KeptOutput kept, PrintedStream stream, String text) throws IOException {
        kept.through(stream, OutputStream.nullOutputStream()).write(text.getBytes(StandardCharsets.UTF_8));
    }

    private List<OutputPiece> pieces(PrintedStream stream) throws IOException {
        var decoder = new OutputPiece.Decoder(stream);
        decoder.take(ByteBuffer.wrap(Files.readAllBytes(file(stream))));
        return all(decoder);
    }

    private Path file(PrintedStream stream) {
        return stream.capture().in(folder);
    }

    private static List<OutputPiece> all(OutputPiece.Decoder decoder) throws IOException {
        var pieces = new ArrayList<OutputPiece>();
        for (OutputPiece piece = decoder.next(); piece != null; piece = decoder.next()) {
            pieces.add(piece);
        }
        return pieces;
    }

    private static byte[] octets(List<OutputPiece> pieces) throws IOException {
        var octets = new ByteArrayOutputStream();
        for (OutputPiece piece : pieces) {
            piece.writeTo(octets);
        }
        return octets.toByteArray();
    }

    private static byte[] random(int seed, int length) {
        var octets = new byte[length];
        new Random(seed).nextBytes(octets);
        return octets;
    }

    /// Octet for octet as in `schemas/capture.md`.
    @Test
    void theFormIsAsSpecified() throws Exception {
        try (var kept = keep(1 << 20)) {
            print(kept, PrintedStream.STDOUT, "a\n");
            print(kept, PrintedStream.STDERR, "!");
            print(kept, PrintedStream.STDOUT, "\u00e4");
        }
        byte[] golden = ("blackbox-output-v1\n"
                        + "\0\0\0\0\0\0\u0003\u00e8" + "\0\0\0\0\0\0\0\0" + "\0\0\0\u0002" + "a\n"
                        + "\0\0\0\0\0\0\u0003\u00ea" + "\0\0\0\0\0\0\0\u0002" + "\0\0\0\u0002" + "\u00c3\u00a4")
                .getBytes(StandardCharsets.ISO_8859_1);
        assertArrayEquals(golden, Files.readAllBytes(file(PrintedStream.STDOUT)));
        var decoder = new OutputPiece.Decoder(PrintedStream.STDOUT);
        decoder.take(ByteBuffer.wrap(golden));
        OutputPiece last = all(decoder).getLast();
        assertEquals("\u00e4", last.text());
        assertEquals(1_002, last.atNs());
        assertEquals(2, last.number());
        assertEquals(
                "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file(PrintedStream.STDOUT))));
    }

    @Test
    void whatIsPrintedComesBackInTheOrderOfBothStreams() throws Exception {
        var expected = new StringBuilder();
        try (var kept = keep(1 << 20)) {
            var random = new Random(7);
            for (int i = 0; i < 500; i++) {
                PrintedStream stream = random.nextInt(3) == 0 ? PrintedStream.STDERR : PrintedStream.STDOUT;
                String text = stream + " " + i + "\n";
                expected.append(text);
                kept.through(stream, shown).write(text.getBytes(StandardCharsets.UTF_8));
            }
            assertEquals(
                    expected.length(),
                    kept.printedBytes(PrintedStream.STDOUT) + kept.printedBytes(PrintedStream.STDERR));
        }
        assertEquals(expected.toString(), shown.toString(StandardCharsets.UTF_8), "it also passed");
        var both = new ArrayList<>(pieces(PrintedStream.STDOUT));
        both.addAll(pieces(PrintedStream.STDERR));
        both.sort(Comparator.comparingLong(OutputPiece::number));
        assertEquals(expected.toString(), new String(octets(both), StandardCharsets.UTF_8));
        for (int i = 0; i < both.size(); i++) {
            assertEquals(i, both.get(i).number(), "no number is missing");
            assertEquals(1_000 + i, both.get(i).atNs());
        }
    }

    @Test
    void binaryOctetsOfAnyLengthComeBack() throws Exception {
        byte[] octets = random(3, 1_000_000);
        try (var kept = keep(2 << 20)) {
            OutputStream out = kept.through(PrintedStream.STDOUT, shown);
            out.write(octets[0]);
            out.write(octets, 1, octets.length - 1);
        }
        List<OutputPiece> pieces = pieces(PrintedStream.STDOUT);
        assertTrue(pieces.stream().allMatch(piece -> piece.bytes() <= OutputPiece.BYTES_MAX));
        assertNull(pieces.getLast().text());
        assertArrayEquals(octets, octets(pieces));
        assertArrayEquals(octets, shown.toByteArray());
    }

    /// The limit counts what was printed, to the octet; exactly the limit is not cut.
    @Test
    void keepingEndsAtItsLimitAndPassingGoesOn() throws Exception {
        byte[] octets = random(4, 10_000);
        try (var kept = keep(4_321)) {
            OutputStream out = kept.through(PrintedStream.STDOUT, shown);
            out.write(octets, 0, 4_000);
            out.write(octets, 4_000, 321);
            assertNull(kept.cutAt(PrintedStream.STDOUT));
            out.write(octets, 4_321, 5_679);
            assertEquals(4_321L, kept.cutAt(PrintedStream.STDOUT));
            assertEquals(10_000, kept.printedBytes(PrintedStream.STDOUT));
            print(kept, PrintedStream.STDERR, "each stream has its own");
            assertNull(kept.cutAt(PrintedStream.STDERR));
        }
        assertArrayEquals(Arrays.copyOf(octets, 4_321), octets(pieces(PrintedStream.STDOUT)));
        assertArrayEquals(octets, shown.toByteArray());
        assertEquals(
                "each stream has its own",
                pieces(PrintedStream.STDERR).getFirst().text());
    }

    /// Otherwise an agent that prints single octets would fill the disk with headers.
    @Test
    void aFileOfSmallPiecesIsAtMostTwiceAsLongAsItsLimit() throws Exception {
        try (var kept = keep(10_000)) {
            for (int i = 0; i < 5_000; i++) {
                print(kept, PrintedStream.STDOUT, "x");
            }
            assertEquals(500L, kept.cutAt(PrintedStream.STDOUT));
        }
        assertTrue(Files.size(file(PrintedStream.STDOUT)) <= 20_100);
    }

    /// To compare a replay's output, exactly as much is kept as there is to compare it with.
    @Test
    void theFirstOctetsAreKeptHoweverSmallThePieces() throws Exception {
        try (var kept = KeptOutput.first(700, Files.createDirectory(folder.resolve("b")), () -> 1)) {
            for (int i = 0; i < 700; i++) {
                print(kept, PrintedStream.STDOUT, "x");
            }
            assertNull(kept.cutAt(PrintedStream.STDOUT));
            print(kept, PrintedStream.STDOUT, "y");
            assertEquals(700L, kept.cutAt(PrintedStream.STDOUT));
            assertEquals(701, kept.printedBytes(PrintedStream.STDOUT));
        }
    }

    @Test
    void aStreamHasEndedOnceItIsClosedAndNotBefore() throws Exception {
        var kept = keep(1 << 20);
        OutputStream out = kept.through(PrintedStream.STDOUT, shown);
        out.write(1);
        assertFalse(kept.hasEnded(PrintedStream.STDOUT));
        out.close();
        assertTrue(kept.hasEnded(PrintedStream.STDOUT));
        assertFalse(kept.hasEnded(PrintedStream.STDERR));
        kept.close();
        // A slow reader may get more than is kept: it is counted.
        kept.through(PrintedStream.STDERR, shown).write(new byte[] {1, 2, 3});
        assertEquals(3, kept.printedBytes(PrintedStream.STDERR));
        assertEquals(0, kept.storedBytes(PrintedStream.STDERR));
    }

    /// A number that is missing would make whoever follows both streams wait for it.
    @Test
    void whatCouldNotBeWrittenHasNoNumberAndIsNotCountedAsKept() throws Exception {
        Files.createFile(file(PrintedStream.STDOUT));
        try (var kept = keep(10)) {
            kept.through(PrintedStream.STDOUT, shown).write(new byte[20]);
            assertNotNull(kept.failure(PrintedStream.STDOUT));
            assertNull(kept.cutAt(PrintedStream.STDOUT));
            assertEquals(0, kept.storedBytes(PrintedStream.STDOUT));
            print(kept, PrintedStream.STDERR, "e");
        }
        assertEquals(0, pieces(PrintedStream.STDERR).getFirst().number());
    }

    @Test
    void noPieceIsOlderThanTheOneBeforeIt() throws Exception {
        try (var kept = keep(1 << 20)) {
            clock.set(500);
            print(kept, PrintedStream.STDOUT, "a");
            clock.set(100);
            print(kept, PrintedStream.STDOUT, "b");
        }
        assertEquals(500, pieces(PrintedStream.STDOUT).getLast().atNs());
    }

    @Test
    void withoutRoomThereIsNoFile() throws Exception {
        try (var kept = keep(0)) {
            kept.through(PrintedStream.STDOUT, shown).write(new byte[] {1, 2});
            assertEquals(2, kept.printedBytes(PrintedStream.STDOUT));
            assertNull(kept.cutAt(PrintedStream.STDOUT));
            assertEquals(List.of(), kept.files());
        }
        assertEquals(2, shown.size());
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(0, files.count());
        }
    }

    @Test
    void aFileThatCannotBeWrittenStopsNothing() throws Exception {
        try (var kept = new KeptOutput(folder.resolve("no"), 1 << 20, clock::get)) {
            kept.through(PrintedStream.STDOUT, shown).write(new byte[] {1, 2});
            kept.through(PrintedStream.STDOUT, shown).write(new byte[] {3});
            assertNotNull(kept.failure(PrintedStream.STDOUT));
            assertNull(kept.failure(PrintedStream.STDERR));
        }
        assertArrayEquals(new byte[] {1, 2, 3}, shown.toByteArray());
    }

    /// Whoever sees it may close (`| head`); it is kept all the same.
    @Test
    void aPieceIsKeptBeforeItPasses() throws Exception {
        try (var kept = keep(1 << 20)) {
            OutputStream closed = kept.through(PrintedStream.STDOUT, new OutputStream() {
                @Override
                public void write(int octet) throws IOException {
                    throw new IOException("closed");
                }
            });
            assertThrows(IOException.class, () -> closed.write(new byte[] {65}));
            assertEquals("A", pieces(PrintedStream.STDOUT).getFirst().text());
        }
    }

    /// A recorder that is killed leaves any prefix of the file.
    @Test
    void ofATruncatedFileTheCompletePiecesCount() throws Exception {
        try (var kept = keep(1 << 20)) {
            print(kept, PrintedStream.STDOUT, "first");
            print(kept, PrintedStream.STDOUT, "second");
        }
        byte[] whole = Files.readAllBytes(file(PrintedStream.STDOUT));
        int line = OutputPiece.VERSION_LINE.length();
        int first = line + OutputPiece.HEADER_BYTES + 5;
        for (int length = 0; length <= whole.length; length++) {
            var decoder = new OutputPiece.Decoder(PrintedStream.STDOUT);
            decoder.take(ByteBuffer.wrap(whole, 0, length));
            String expected = length == whole.length ? "firstsecond" : length >= first ? "first" : "";
            assertEquals(expected, new String(octets(all(decoder)), StandardCharsets.UTF_8), "of " + length);
            int begun = length < line ? 0 : length < first ? line : length < whole.length ? first : whole.length;
            assertEquals(length - begun, decoder.incompleteBytes(), "of " + length);
            // And the rest, when it comes.
            decoder.take(ByteBuffer.wrap(whole, length, whole.length - length));
            String rest = "firstsecond".substring(expected.length());
            assertEquals(rest, new String(octets(all(decoder)), StandardCharsets.UTF_8), "after " + length);
        }
    }

    @Test
    void whatNoRecorderWritesIsRefused() throws Exception {
        try (var kept = keep(1 << 20)) {
            print(kept, PrintedStream.STDOUT, "first");
            print(kept, PrintedStream.STDOUT, "second");
        }
        byte[] whole = Files.readAllBytes(file(PrintedStream.STDOUT));
        int line = OutputPiece.VERSION_LINE.length();
        int second = line + OutputPiece.HEADER_BYTES + 5;
        for (int at : new int[] {0, line - 2, line + 16, second, second + 8, second + 16}) {
            byte[] changed = whole.clone();
            changed[at] ^= (byte) 0x80;
            var decoder = new OutputPiece.Decoder(PrintedStream.STDOUT);
            decoder.take(ByteBuffer.wrap(changed));
            assertThrows(IOException.class, () -> all(decoder), "octet " + at);
        }
        whole[line + 19] = 0;
        var decoder = new OutputPiece.Decoder(PrintedStream.STDOUT);
        decoder.take(ByteBuffer.wrap(whole));
        assertThrows(IOException.class, () -> all(decoder), "a piece without octets");
    }

    /// The file's end is declared only once all of it is sealed.
    @Test
    void aCutIsSealedWithTheFile() throws Exception {
        try (var kept = keep(30)) {
            CaptureFile file = kept.files().getFirst();
            print(kept, PrintedStream.STDOUT, "0123456789012345678901234567");
            assertEquals(1, details(file).size());
            print(kept, PrintedStream.STDOUT, "abcd");
            List<String> last = details(file);
            long length = Files.size(file(PrintedStream.STDOUT));
            assertEquals(2, last.size(), last::toString);
            assertTrue(last.getFirst().contains("\"to\":" + length), last::toString);
            assertEquals("{\"ended\":" + length + ",\"why\":\"budget\"}", last.getLast());
            print(kept, PrintedStream.STDOUT, "more");
            assertEquals(List.of(), details(file));
            assertNull(file.unsealed());
            assertFalse(details(kept.files().getLast()).toString().contains("ended"), "the other stream goes on");
        }
        assertEquals(
                "0123456789012345678901234567ab",
                new String(octets(pieces(PrintedStream.STDOUT)), StandardCharsets.UTF_8));
    }

    private static List<String> details(CaptureFile file) throws Exception {
        return file.sealNew(() -> 5).stream()
                .map(event -> Objects.requireNonNull(((Event.VmCapture) event).detail()))
                .toList();
    }

    /// 100 MiB, in the pieces in which a guest sends them.
    @Test
    void aLargeOutputIsKeptWhole() throws Exception {
        byte[] piece = random(5, 32 << 10);
        try (var kept = keep(100 << 20)) {
            OutputStream out = kept.through(PrintedStream.STDOUT, OutputStream.nullOutputStream());
            for (int i = 0; i < 3_200; i++) {
                out.write(piece);
            }
            assertEquals(100L << 20, kept.printedBytes(PrintedStream.STDOUT));
            assertNull(kept.cutAt(PrintedStream.STDOUT));
        }
        var decoder = new OutputPiece.Decoder(PrintedStream.STDOUT);
        int count = 0;
        try (var in = Files.newInputStream(file(PrintedStream.STDOUT))) {
            for (byte[] octets = in.readNBytes(1 << 20); octets.length > 0; octets = in.readNBytes(1 << 20)) {
                decoder.take(ByteBuffer.wrap(octets));
                for (OutputPiece each : all(decoder)) {
                    assertEquals(ByteBuffer.wrap(piece), each.octets());
                    count++;
                }
            }
        }
        assertEquals(3_200, count);
    }
}
