package blackbox.replay.rerun;

import blackbox.query.run.RunFacts;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.verdict.Refusal;
import blackbox.schemas.folder.CaptureName;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/// What the recorded command was given on its standard input.
///
/// @param capture of what was read, null if nothing was, or if the recording is older than such captures
/// @param bytes how many octets were read; -1 if the run does not say
/// @param ended whether its end was seen
record RecordedInput(@Nullable SealedCapture capture, long bytes, boolean ended) {

    /// From a run's close, and what it captured.
    static RecordedInput of(RunFacts facts, Map<String, SealedCapture> captures) {
        RunFacts.End end = facts.end();
        JsonNode stdin = end == null ? null : end.detail().path("stdin");
        long bytes = stdin == null ? -1 : stdin.path("bytes").asLong(-1);
        boolean ended = stdin == null || stdin.path("ended").asBoolean(true);
        return new RecordedInput(captures.get(CaptureName.STDIN.text()), bytes, ended);
    }

    /// Why it cannot be given again, or null.
    @Nullable
    Refusal refusal() {
        long kept = capture == null ? 0 : capture.sealedBytes();
        String fault = null;
        if (kept < bytes) {
            fault = kept + " octets";
        } else if (capture != null) {
            try {
                capture.check();
            } catch (ReplayException e) {
                fault = String.valueOf(e.getMessage());
            }
        }
        return fault == null
                ? null
                : new Refusal(
                        DivergenceClass.RECORDER_GAP,
                        "what the command read from its standard input",
                        Math.max(bytes, kept) + " octets",
                        fault,
                        "record it again with a larger --frames-max, or copy the run's captures" + Payload.MEND);
    }

    /// The octets, once [#refusal] has found nothing. An input whose end the recorded command never saw does not end.
    InputStream open() throws IOException {
        InputStream octets = capture == null ? InputStream.nullInputStream() : capture.open();
        return ended ? octets : new SequenceInputStream(octets, new Endless());
    }

    /// What the comparison does not cover because of it.
    String limit() {
        return bytes < 0
                ? "what the command read from its standard input, which the recording does not say: it was given none"
                : "when the command was given its standard input: it was given all " + bytes + " octets at once";
    }

    /// An input to which nothing ever comes, until it is closed.
    private static final class Endless extends InputStream {
        private final CountDownLatch closed = new CountDownLatch(1);

        @Override
        public int read() throws IOException {
            try {
                closed.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return -1;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            return length == 0 ? 0 : read();
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }
}
