package blackbox.policy.text;

import java.util.List;
import java.util.stream.Collectors;

/// A text is no policy.
public final class PolicyException extends Exception {

    private static final long serialVersionUID = 1L;

    private final transient List<Problem> problems;

    /// @param problems at least one, in the order of their places
    public PolicyException(List<Problem> problems) {
        super(problems.stream().map(Problem::toString).collect(Collectors.joining("; ")));
        this.problems = List.copyOf(problems);
    }

    /// All that is wrong, as far as could be seen.
    public List<Problem> problems() {
        return problems;
    }
}
