package blackbox.node.data;

import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.log.NoteVerifier;
import java.io.IOException;
import java.util.List;

/// Where the trusted public keys and outside parties come from. Read again for every verification, since keys come
/// and go.
@FunctionalInterface
public interface TrustSource {

    List<NoteVerifier> read() throws IOException;

    /// Whose statements about time are trusted.
    default AnchorTrust anchors() throws IOException {
        return AnchorTrust.none();
    }
}
