package blackbox.node.access;

import blackbox.schemas.RunId;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Somebody who showed a valid token.
///
/// @param subject who the token was made for
/// @param token its id, which is no secret
/// @param runs the only ones that it is for; null if it is for all
public record Caller(
        String subject, Role role, String token, @Nullable Set<RunId> runs) {
    public Caller {
        runs = runs == null ? null : Set.copyOf(runs);
    }
}
