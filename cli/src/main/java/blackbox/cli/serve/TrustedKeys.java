package blackbox.cli.serve;

import blackbox.schemas.sign.Ed25519Verifier;
import java.io.IOException;
import java.util.List;

/// Where the public keys that are trusted come from; read afresh for every verification, since keys come and
/// go.
@FunctionalInterface
public interface TrustedKeys {

    List<Ed25519Verifier> read() throws IOException;
}
