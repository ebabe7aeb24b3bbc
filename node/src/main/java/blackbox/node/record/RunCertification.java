package blackbox.node.record;

import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.recorder.seal.EphemeralKeys;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/// Makes a run's first key and has it certified in the log of runs, on its own thread and while the VM
/// starts, so that the agent does not wait for it.
final class RunCertification implements AutoCloseable {

    private final CompletableFuture<Certified> result = new CompletableFuture<>();

    /// A certified run, which may begin.
    ///
    /// @param certificate the signed note, which the log of runs holds
    record Certified(TransparencyLog runs, EphemeralKeys keys, String certificate) {}

    RunCertification(DataFolder data, RunId run, SecureRandom random) {
        Thread.ofPlatform().name("certify-" + run).daemon().start(() -> {
            try {
                result.complete(certify(data, run, random));
            } catch (RecorderException | RuntimeException e) {
                result.completeExceptionally(e);
            }
        });
    }

    private static Certified certify(DataFolder data, RunId run, SecureRandom random) throws RecorderException {
        TransparencyLog runs = TransparencyLog.open(data);
        try {
            var keys = new EphemeralKeys(run, random);
            return new Certified(runs, keys, runs.log().certify(run, keys.first()));
        } catch (RecorderException | RuntimeException e) {
            runs.close();
            throw e;
        }
    }

    /// Waits until the certificate is in the log.
    ///
    /// @throws RecorderException when that failed; the run cannot begin then
    Certified await() throws RecorderException, InterruptedException {
        try {
            return result.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RecorderException why) {
                throw new RecorderException(why.code(), "the run cannot be certified", why);
            }
            throw new RecorderException(Code.RUN_LOG, "the run cannot be certified", e);
        }
    }

    /// Releases the long-term key.
    @Override
    public void close() {
        CompletableFuture<Void> _ =
                result.thenAccept(certified -> certified.runs().close());
    }
}
