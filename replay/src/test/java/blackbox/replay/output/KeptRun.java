package blackbox.replay.output;

import blackbox.evidence.store.Recordings;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunState;
import blackbox.recorder.capture.CaptureFile;
import blackbox.recorder.capture.KeptOutput;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.capture.SealedCapture;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Row;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// A run of which only its output is kept, in a data folder, sealed as a recorder does it.
public final class KeptRun implements AutoCloseable {
    public static final RunId RUN = new RunId("01jd8x3k9zq4v7w2m5n6p8r0st");

    private final Recordings recordings;
    private final SealedCapture.Collector collector;
    private final KeptOutput kept;
    private final List<CaptureFile> files;
    private long now;
    private long index;

    public KeptRun(Path folder, long bytesMax) throws IOException {
        recordings = Recordings.unchecked(folder);
        collector = new SealedCapture.Collector(recordings, RUN);
        kept = new KeptOutput(
                Files.createDirectories(new DataFolder(folder).captures(RUN)), bytesMax, () -> 1_000 * ++now);
        files = kept.files();
    }

    public Recordings recordings() {
        return recordings;
    }

    /// Each piece is received a microsecond after the one before.
    public void print(PrintedStream stream, String text) throws IOException {
        kept.through(stream, OutputStream.nullOutputStream()).write(text.getBytes(StandardCharsets.UTF_8));
    }

    private CaptureFile file(PrintedStream stream) {
        return files.stream()
                .filter(file -> file.name().equals(stream.word()))
                .findFirst()
                .orElseThrow();
    }

    /// Seals what is new of a stream.
    public void seal(PrintedStream stream) throws Exception {
        for (Event event : file(stream).sealNew(() -> 1_000 * now)) {
            var row = new Row();
            EventRows.fill(event, row);
            collector.see(row, index++);
        }
    }

    public Map<String, SealedCapture> captures() throws Exception {
        for (PrintedStream stream : PrintedStream.values()) {
            seal(stream);
        }
        return sealed();
    }

    /// What was sealed so far.
    public Map<String, SealedCapture> sealed() throws Exception {
        return collector.captures();
    }

    public static Path file(Path folder, PrintedStream stream) {
        return stream.capture().in(new DataFolder(folder).captures(RUN));
    }

    /// What the run's first and last events say, of a recorder that kept output.
    public static RunFacts facts(RunState state, String close) throws IOException {
        return facts(
                state,
                "{\"recorder\":{\"version\":\"1\",\"key\":\"k\",\"certificate\":\"c\",\"outputBytesMax\":99}}",
                close);
    }

    public static RunFacts facts(RunState state, String open, String close) throws IOException {
        var json = new ObjectMapper();
        var start = new RunFacts.Start(0, null, json.readTree(open));
        var end = state == RunState.CLOSED ? new RunFacts.End(1_000_000, 0, null, json.readTree(close)) : null;
        return new RunFacts(RUN, state, start, end, 10, null, List.of(), null);
    }

    @Override
    public void close() throws IOException {
        kept.close();
    }
}
