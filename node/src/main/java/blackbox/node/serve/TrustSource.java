package blackbox.node.serve;

import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.log.NoteVerifier;
import java.io.IOException;
import java.util.List;

/// Where the public keys that are trusted come from, and the outside parties; read afresh for every verification,
/// since keys come and go.
@FunctionalInterface
public interface TrustSource {

    List<NoteVerifier> read() throws IOException;

    /// Whose word on time is taken.
    default AnchorTrust anchors() throws IOException {
        return AnchorTrust.none();
    }
}
