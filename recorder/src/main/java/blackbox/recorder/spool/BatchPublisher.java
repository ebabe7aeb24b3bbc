package blackbox.recorder.spool;

import blackbox.recorder.RecorderException;
import blackbox.schemas.batch.SealedBatch;

/// Sends sealed batches to the broker, in order. Contract: `acknowledged` runs once per batch, after the
/// broker has made it durable, never before and never for a batch that failed; [#publish] blocks while too
/// much is in flight.
public interface BatchPublisher extends AutoCloseable {

    void publish(SealedBatch batch, Runnable acknowledged) throws RecorderException;

    @Override
    void close();
}
