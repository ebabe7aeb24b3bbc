package blackbox.recorder.seal;

import blackbox.recorder.RecorderException;
import blackbox.schemas.batch.SealedBatch;

/// Where sealed batches go. Contract: when [#write] returns, the batch is durable and will be delivered in
/// order, whatever process is killed afterwards; when it throws, the batch may or may not be there and the
/// run must end.
public interface BatchSink {

    void write(SealedBatch batch) throws RecorderException;
}
