package blackbox.schemas.batch;

import blackbox.schemas.Hash;
import blackbox.schemas.RunId;

/// A batch's fields other than its leaves and checkpoint; see the accessors of [SealedBatch].
public record BatchHeader(RunId run, long sequence, long firstIndex, int count, long sealedAtNs, Hash previous) {}
