package blackbox.node.record;

import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.recorder.seal.EphemeralKeys;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/// Makes a run's first key and its certificate, on its own thread and while the VM starts, so that the agent does not
/// wait for it. It is entered in the log of runs when the VM has started: a run that never began would be missing for
/// ever.
final class RunCertification implements AutoCloseable {

    private final CompletableFuture<Certified> result = new CompletableFuture<>();

    /// A certified run, which may begin once the log of runs has its certificate.
    ///
    /// @param certificate the signed note
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
            return new Certified(runs, keys, runs.log().certificate(run, keys.first()));
        } catch (RecorderException | RuntimeException e) {
            runs.close();
            throw e;
        }
    }

    /// Enters the run in the log.
    ///
    /// @throws RecorderException when that failed; the run cannot begin then
    Certified enter() throws RecorderException, InterruptedException {
        try {
            Certified certified = result.get();
            certified.runs().log().append(List.of(certified.certificate()));
            return certified;
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
