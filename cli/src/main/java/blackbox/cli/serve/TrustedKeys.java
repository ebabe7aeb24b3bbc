package blackbox.cli.serve;

import blackbox.schemas.log.NoteVerifier;
import java.io.IOException;
import java.util.List;

/// Where the public keys that are trusted come from; read afresh for every verification, since keys come and
/// go.
@FunctionalInterface
public interface TrustedKeys {

    List<NoteVerifier> read() throws IOException;
}
