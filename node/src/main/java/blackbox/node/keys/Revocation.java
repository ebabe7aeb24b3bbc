package blackbox.node.keys;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.trust.KeyStatement.Role;
import blackbox.schemas.RunId;
import java.util.List;

/// The result of revoking a key.
///
/// @param key that was revoked
/// @param role what the key was for
/// @param resealed how many data files got a new seal
/// @param refused runs that failed verification: their files keep the revoked key's seal, and no answer uses them
public record Revocation(NoteVerifier key, Role role, int resealed, List<RunId> refused) {

    public Revocation {
        refused = List.copyOf(refused);
    }
}
