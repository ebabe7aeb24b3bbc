package blackbox.recorder.spool;

import blackbox.recorder.RecorderException;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.batch.SpoolSegment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Publishes what dead recorders left in their spools. Runs of live recorders are left alone.
///
/// A damaged end (a write that was cut off, or tampering, which look alike) is moved to the quarantine
/// folder, never dropped; the run then has no close and shows as truncated.
public final class SpoolRecovery {

    private final Path root;
    private final Path quarantine;
    private final Predicate<RunId> live;

    /// @param live whether a run's recorder is still at work
    public SpoolRecovery(Path root, Path quarantine, Predicate<RunId> live) {
        this.root = root;
        this.quarantine = quarantine;
        this.live = live;
    }

    /// One run's leftovers and what happened to them.
    ///
    /// @param checkpoint the signed checkpoint of the last batch, or null if no batch could be read
    /// @param quarantined files that could not be read to their end
    public record Recovered(
            RunId run, int batches, @Nullable String checkpoint, List<Path> quarantined) {}

    /// Publishes all leftovers and waits, for at most `timeoutNs` per run, until the broker has them.
    public List<Recovered> recover(BatchPublisher publisher, long timeoutNs) throws RecorderException {
        var recovered = new ArrayList<Recovered>();
        for (Path folder : folders(root)) {
            RunId run = runOf(folder);
            if (run != null && !live.test(run)) {
                recovered.add(recover(run, folder, publisher, timeoutNs));
            }
        }
        return recovered;
    }

    private Recovered recover(RunId run, Path folder, BatchPublisher publisher, long timeoutNs)
            throws RecorderException {
        try {
            var damaged = new ArrayList<Path>();
            var batches = new ArrayList<SealedBatch>();
            for (Path segment : folders(folder)) {
                SpoolSegment read = SpoolSegment.read(Files.readAllBytes(segment));
                batches.addAll(read.batches());
                if (read.fault() != null) {
                    damaged.add(segment);
                }
            }
            publishAll(batches, publisher, timeoutNs, run);
            List<Path> kept = new ArrayList<>();
            for (Path segment : damaged) {
                kept.add(moveToQuarantine(run, segment));
            }
            for (Path segment : folders(folder)) {
                Files.delete(segment);
            }
            Files.delete(folder);
            return new Recovered(
                    run,
                    batches.size(),
                    batches.isEmpty() ? null : batches.getLast().checkpoint(),
                    kept);
        } catch (IOException e) {
            throw new RecorderException(RecorderException.Code.SPOOL, "cannot recover the spool of run " + run, e);
        }
    }

    private static void publishAll(List<SealedBatch> batches, BatchPublisher publisher, long timeoutNs, RunId run)
            throws RecorderException {
        var waiting = new CountDownLatch(batches.size());
        for (SealedBatch batch : batches) {
            publisher.publish(batch, waiting::countDown);
        }
        try {
            if (!waiting.await(timeoutNs, TimeUnit.NANOSECONDS)) {
                throw new RecorderException(
                        RecorderException.Code.BROKER,
                        "the broker did not accept " + waiting.getCount() + " batches of run " + run
                                + "; they stay in the spool and are sent again at the next start");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RecorderException(RecorderException.Code.CLOSED, "interrupted while recovering run " + run, e);
        }
    }

    private Path moveToQuarantine(RunId run, Path segment) throws IOException {
        Path folder = Files.createDirectories(quarantine.resolve(run.value()));
        Path kept = folder.resolve("spool-" + segment.getFileName());
        Files.move(segment, kept, StandardCopyOption.REPLACE_EXISTING);
        return kept;
    }

    private static @Nullable RunId runOf(Path folder) {
        try {
            return new RunId(String.valueOf(folder.getFileName()));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static List<Path> folders(Path folder) throws RecorderException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.sorted().toList();
        } catch (IOException e) {
            throw new RecorderException(RecorderException.Code.SPOOL, "cannot list " + folder, e);
        }
    }
}
