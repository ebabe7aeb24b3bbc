package blackbox.node.record;

import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.recorder.seal.EphemeralKeys;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/// Opens the log of runs and makes a run's first key, on its own thread and while the VM starts, so that the agent does
/// not wait for it. The run is certified in the log when the VM has started: one that never began would be missing for
/// ever, and a certificate that is older than what the log got meanwhile looks like a clock that was set back.
final class RunCertification implements AutoCloseable {

    private final RunId run;
    private final CompletableFuture<Prepared> result = new CompletableFuture<>();

    private record Prepared(TransparencyLog runs, EphemeralKeys keys) {}

    /// A certified run, which may begin.
    ///
    /// @param certificate the signed note, which the log of runs holds
    record Certified(TransparencyLog runs, EphemeralKeys keys, String certificate) {}

    RunCertification(DataFolder data, RunId run, SecureRandom random) {
        this.run = run;
        Thread.ofPlatform().name("certify-" + run).daemon().start(() -> {
            try {
                result.complete(prepare(data, run, random));
            } catch (RecorderException | RuntimeException e) {
                result.completeExceptionally(e);
            }
        });
    }

    private static Prepared prepare(DataFolder data, RunId run, SecureRandom random) throws RecorderException {
        TransparencyLog runs = TransparencyLog.open(data);
        try {
            return new Prepared(runs, new EphemeralKeys(run, random));
        } catch (RuntimeException e) {
            runs.close();
            throw e;
        }
    }

    /// Certifies the run.
    ///
    /// @throws RecorderException when that failed; the run cannot begin then
    Certified certify() throws RecorderException, InterruptedException {
        try {
            Prepared prepared = result.get();
            String certificate =
                    prepared.runs().log().certify(run, prepared.keys().first());
            return new Certified(prepared.runs(), prepared.keys(), certificate);
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
                result.thenAccept(prepared -> prepared.runs().close());
    }
}
