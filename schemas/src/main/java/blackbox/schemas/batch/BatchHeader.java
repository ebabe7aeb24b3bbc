package blackbox.schemas.batch;

import blackbox.schemas.Hash;
import blackbox.schemas.RunId;

/// What a batch says about itself besides its leaves; see the accessors of [SealedBatch].
public record BatchHeader(RunId run, long sequence, long firstIndex, int count, long sealedAtNs, Hash previous) {}
