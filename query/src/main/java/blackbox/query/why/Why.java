package blackbox.query.why;

import blackbox.schemas.RunId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What an event followed from.
///
/// @param index the event's
/// @param grade how surely it followed from the first tool use of the chain; null where nothing has to be
///     inferred, or nothing can
/// @param answer the grade, or why there is none, in words
/// @param chain from the event up to a model's answer, and what that answer was given
/// @param candidates other tool uses that may be meant
/// @param limits in sentences, why it is no surer, and what may not have been seen
public record Why(
        RunId run,
        long index,
        @Nullable Grade grade,
        String answer,
        List<Step> chain,
        List<Candidate> candidates,
        List<String> limits) {

    public Why {
        chain = List.copyOf(chain);
        candidates = List.copyOf(candidates);
        limits = List.copyOf(limits);
    }

    /// A tool use that may be meant as well.
    ///
    /// @param what it was asked to do
    public record Candidate(
            long index, @Nullable String id, @Nullable String name, Grade grade, String what) {}
}
