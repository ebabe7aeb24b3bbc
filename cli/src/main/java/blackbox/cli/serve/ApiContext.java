package blackbox.cli.serve;

import blackbox.query.store.Recordings;
import blackbox.schemas.sign.Ed25519Verifier;
import java.util.List;

/// What the API answers from: the recordings, the public keys that are trusted, and the token that callers
/// show.
public record ApiContext(Recordings recordings, List<Ed25519Verifier> trustedKeys, ApiToken token) {

    public ApiContext {
        trustedKeys = List.copyOf(trustedKeys);
    }
}
