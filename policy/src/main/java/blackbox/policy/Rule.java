package blackbox.policy;

import blackbox.policy.budget.Budget;
import blackbox.policy.budget.Limit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Traffic that a policy allows.
///
/// @param id unique in its policy: decisions name it
/// @param exe the program's absolute path in the guest; null for any. It can only narrow: it is the guest's
///     word
/// @param secret the id of a secret that goes with requests under this rule
public record Rule(
        String id,
        Traffic traffic,
        @Nullable String exe,
        @Nullable String secret,
        @Nullable Budget budget,
        @Nullable Upstream upstream) {

    /// Whether it limits what only calls of models spend, so that each exchange under it has to be read.
    public boolean readsCalls() {
        return limits(Limit.TOKENS) || limits(Limit.USD);
    }

    /// Whether it has a budget with this limit.
    public boolean limits(Limit limit) {
        return budget != null && budget.limits().containsKey(limit);
    }

    private static final int PROGRAM_MAX = 4_096;

    /// Whether a text is the absolute path of a program: printable, without empty segments and dot segments.
    public static boolean isProgram(String path) {
        return path.length() > 1
                && path.length() <= PROGRAM_MAX
                && path.startsWith("/")
                && path.chars().allMatch(c -> c >= ' ' && c < 0x7f)
                && Stream.of(path.substring(1).split("/", -1))
                        .noneMatch(segment -> segment.isEmpty() || segment.equals(".") || segment.equals(".."));
    }
}
