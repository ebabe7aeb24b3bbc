package blackbox.node.keys;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.trust.KeyStatement.Role;
import blackbox.schemas.RunId;
import java.util.List;

/// What followed from revoking a key.
///
/// @param key that was revoked
/// @param role what the key was for
/// @param resealed how many data files have a new seal
/// @param refused runs with files that keep the revoked key's seal, because they do not hold: no answer uses these
/// files
public record Revocation(NoteVerifier key, Role role, int resealed, List<RunId> refused) {

    public Revocation {
        refused = List.copyOf(refused);
    }
}
