package blackbox.replay.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.query.run.RunState;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.content.Origins;
import blackbox.replay.content.Window;
import blackbox.replay.content.WrittenWhen;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// An octet was printed between the piece before and its own.
class PieceTimesTest {

    @TempDir
    Path folder;

    @Test
    void anOctetsWindowIsFromThePieceBeforeToItsOwn() {
        var times = new PieceTimes(50);
        times.add(3, 100);
        times.add(1, 200);
        times.add(2, 200);
        times.add(4, 200);
        times.add(1, 300);
        assertEquals(new Window(50, 100), times.at(0));
        assertEquals(new Window(50, 100), times.at(2));
        assertEquals(new Window(100, 200), times.at(3));
        assertEquals(new Window(200, 200), times.at(4));
        assertEquals(new Window(200, 200), times.at(9));
        assertEquals(new Window(200, 300), times.at(10));
        assertEquals(new Window(200, 200), times.at(9), "a little way back");
        assertThrows(IllegalArgumentException.class, () -> times.at(11), "that one is not read yet");
    }

    @Test
    void theFirstPieceIsOfItsOwnTimeIfItsBeginningIsNotKnown() {
        var unknown = new PieceTimes(PieceInput.BEGAN_UNKNOWN);
        unknown.add(3, 100);
        assertEquals(new Window(100, 100), unknown.at(0));
    }

    /// Whatever may still be asked for is there, and not more than that.
    @Test
    void tinyPiecesAreForgotten() {
        var times = new PieceTimes(0);
        var random = new Random(6);
        long asked = 0;
        for (int octet = 0; octet < 3 * WrittenWhen.BEHIND_MAX; octet++) {
            times.add(1, 1_000L * octet);
            if (random.nextInt(100_000) == 0) {
                asked = Math.max(asked, Math.max(0, octet - random.nextInt(WrittenWhen.BEHIND_MAX)));
                assertEquals(new Window(Math.max(0, 1_000L * (asked - 1)), 1_000L * asked), times.at(asked));
            }
        }
        long oldest = 2L * WrittenWhen.BEHIND_MAX - 1;
        assertThrows(IllegalArgumentException.class, () -> times.at(Math.max(0, oldest - 1)));
        long last = 3L * WrittenWhen.BEHIND_MAX - 1;
        assertEquals(new Window(1_000 * (last - 1), 1_000 * last), times.at(last));
    }

    private static long ns(String time) {
        return Duration.between(Instant.EPOCH, Instant.parse(time)).toNanos();
    }

    private static void print(ReplayedOutput kept, AtomicLong clock, String at, String text) throws Exception {
        clock.set(ns(at));
        kept.through(PrintedStream.STDOUT).write(text.getBytes(StandardCharsets.UTF_8));
    }

    /// From the files of two replays.
    @Test
    void aTimeStandsForAnotherInWhatWasKept() throws Exception {
        try (var first = ReplayedOutput.in(folder);
                var second = ReplayedOutput.in(folder)) {
            var clock = new AtomicLong();
            first.keep(1 << 20, clock::get);
            print(first, clock, "2026-11-25T12:11:37.1Z", "begun 12:11:37\n");
            print(first, clock, "2026-11-25T12:21:37.1Z", "then 12:15:00, now 12:21:");
            print(first, clock, "2026-11-25T12:21:37.2Z", "37\n");
            second.keep(1 << 20, clock::get);
            print(second, clock, "2026-11-27T08:05:59.1Z", "begun 08:05:59\n");
            print(second, clock, "2026-11-27T08:16:00.1Z", "then 08:09:10, now 08:15:59\n");
            OutputMatch match = match(first, second);
            assertNull(match.difference());
            assertEquals(3, match.times().count());
            OutputMatch other = match(second, second);
            assertNull(other.difference());
            assertEquals(0, other.times().count());
        }
    }

    private static OutputMatch match(ReplayedOutput first, ReplayedOutput second) throws Exception {
        try (PieceInput recorded = first.open(PrintedStream.STDOUT);
                PieceInput replayed = second.open(PrintedStream.STDOUT)) {
            return OutputMatch.of(PrintedStream.STDOUT, recorded, replayed, new Origins(recorded, replayed));
        }
    }

    /// A program whose output is no terminal keeps it until its end; when it began must then be known.
    @Test
    void whatWasPrintedAtTheEndMayBeFromAsEarlyAsItsBeginning() throws Exception {
        try (var first = ReplayedOutput.in(folder);
                var second = ReplayedOutput.in(folder)) {
            var clock = new AtomicLong();
            first.keep(1 << 20, clock::get);
            print(first, clock, "2026-11-25T12:21:37Z", "at 12:15:00\n");
            second.keep(1 << 20, clock::get);
            print(second, clock, "2026-11-27T08:15:59Z", "at 08:09:22\n");
            assertEquals(
                    3, Objects.requireNonNull(match(first, second).difference()).octet());
            try (PieceInput a = first.open(PrintedStream.STDOUT, ns("2026-11-25T12:10:00Z"));
                    PieceInput b = second.open(PrintedStream.STDOUT, ns("2026-11-27T08:04:22Z"))) {
                assertNull(OutputMatch.of(PrintedStream.STDOUT, a, b, new Origins(a, b))
                        .difference());
            }
        }
    }

    @Test
    void aRecordedStreamHasItsTimes() throws Exception {
        try (var run = new KeptRun(folder, 1 << 20)) {
            run.print(PrintedStream.STDOUT, "one ");
            run.print(PrintedStream.STDERR, "not this ");
            run.print(PrintedStream.STDOUT, "two");
            var recorded = new RecordedOutput(KeptRun.facts(RunState.OPEN, "{}"), run.captures());
            try (PieceInput in = recorded.open(PrintedStream.STDOUT, 10)) {
                assertEquals(7, in.readAllBytes().length);
                assertEquals(new Window(10, 1_000), in.at(3));
                assertEquals(new Window(1_000, 3_000), in.at(4));
            }
        }
        try (PieceInput none = PieceInput.none()) {
            assertEquals(-1, none.read());
        }
    }
}
