package blackbox.recorder.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.schemas.event.Event;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A run closes when all of what was kept beside it is sealed, or its close says what is not.
class CapturedFilesTest {
    private static final int TOO_EARLY = 4;

    @TempDir
    Path folder;

    private final List<Event> sealed = new ArrayList<>();
    private Path console;

    @BeforeEach
    void write() throws Exception {
        console = Files.writeString(folder.resolve("console"), "reboot: Power down\n");
    }

    @Test
    void whatSettlesLateIsSealedAllTheSame() throws Exception {
        var looks = new AtomicInteger();
        var captures = captures(new CaptureFile(
                "console", console, 1 << 20, () -> looks.incrementAndGet() > TOO_EARLY ? Duration.ZERO : null));
        assertEquals(Map.of(), captures.sealLast(() -> 1L, sealed::add));
        assertEquals(1, sealed.size());
        assertEquals(TOO_EARLY + 1, looks.get());
    }

    @Test
    void whatIsWrittenWhileTheLastIsSealedIsSealedToo() throws Exception {
        var looks = new AtomicInteger();
        var captures = captures(new CaptureFile("console", console, 1 << 20, () -> {
            if (looks.incrementAndGet() == 1) {
                append("late\n");
            }
            return Duration.ZERO;
        }));
        assertEquals(Map.of(), captures.sealLast(() -> 1L, sealed::add));
        assertEquals(2, sealed.size());
        assertEquals("reboot: Power down\nlate\n", Files.readString(console));
    }

    @Test
    void whatCannotBeSealedIsNamed() throws Exception {
        var captures = captures(new CaptureFile("console", console, 1 << 20, () -> null));
        assertEquals(
                Map.of("console", "19 octets were written, only 0 are sealed"),
                captures.sealLast(() -> 1L, sealed::add, Duration.ofMillis(120)));
        assertEquals(List.of(), sealed);
    }

    @Test
    void aFileThatIsNotThereOrWasEndedNeedsNoWord() throws Exception {
        var captures = captures(
                new CaptureFile("control", folder.resolve("control")),
                new CaptureFile("console", console, 4, () -> Duration.ZERO));
        assertEquals(Map.of(), captures.sealLast(() -> 1L, sealed::add));
        assertEquals(2, sealed.size()); // its segment, and that it ended there
    }

    private CapturedFiles captures(CaptureFile... files) {
        return new CapturedFiles(List.of(files), folder, CaptureLimits.DEFAULT, KeptOutput.none());
    }

    private void append(String text) {
        try {
            Files.writeString(console, text, java.nio.file.StandardOpenOption.APPEND);
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
