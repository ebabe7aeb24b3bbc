package blackbox.node.alert;

import blackbox.rules.Level;
import blackbox.rules.RuleSet;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/// By which rules a run is watched, and what comes of it.
///
/// @param leftOut how many rules were given that cannot be used
/// @param pauseOn alerts of this level or above pause the run; null: none does
/// @param killOn the same for its end
/// @param webhook who is told; null: nobody
public record AlertOptions(
        RuleSet rules,
        int leftOut,
        @Nullable Level pauseOn,
        @Nullable Level killOn,
        @Nullable URI webhook) {
    /// Nothing is watched.
    public static final AlertOptions NONE = new AlertOptions(RuleSet.NONE, 0, null, null, null);
}
