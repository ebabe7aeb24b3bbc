package blackbox.cli.serve;

import blackbox.query.store.Recordings;

/// What the API answers from: the recordings, the public keys that are trusted, and the token that callers
/// show.
public record ApiContext(Recordings recordings, TrustedKeys trustedKeys, ApiToken token) {}
