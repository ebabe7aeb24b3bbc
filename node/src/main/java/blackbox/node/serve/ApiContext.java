package blackbox.node.serve;

import blackbox.evidence.store.Recordings;
import blackbox.recorder.witness.Witness;
import org.jspecify.annotations.Nullable;

/// What the API answers from: the recordings, the public keys that are trusted, the token that callers
/// present, and the witness for others' logs, if this service is one.
public record ApiContext(
        Recordings recordings,
        TrustSource trustedKeys,
        ApiToken token,
        @Nullable Witness witness) {}
