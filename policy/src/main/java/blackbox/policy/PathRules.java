package blackbox.policy;

import blackbox.policy.host.PathPattern;
import blackbox.policy.host.RequestPath;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Which paths a rule is about.
///
/// @param patterns at least one, sorted
/// @param encodedSlash what a slash that is encoded in a segment does
public record PathRules(List<PathPattern> patterns, EncodedSlash encodedSlash) {

    /// What `%2F` in a path means: servers disagree whether it separates segments.
    public enum EncodedSlash {
        /// The path is refused.
        REFUSED,
        /// It is a character of its segment, as in names of scoped npm packages.
        CHARACTER
    }

    public PathRules {
        patterns = patterns.stream().distinct().sorted().toList();
        if (patterns.isEmpty()) {
            throw new IllegalArgumentException("there is no path");
        }
    }

    /// Why these rules cannot be applied to a path; null if they can.
    public @Nullable String whyUnsafe(RequestPath path) {
        return switch (path) {
            case RequestPath.Unsafe unsafe -> unsafe.why();
            case RequestPath.Clean clean ->
                clean.hasEncodedSlash() && encodedSlash == EncodedSlash.REFUSED
                        ? "it has an encoded slash (%2F)"
                        : null;
        };
    }

    /// Whether a path that is safe under these rules is one of theirs.
    public boolean matches(RequestPath.Clean path) {
        return patterns.stream().anyMatch(pattern -> pattern.matches(path));
    }
}
