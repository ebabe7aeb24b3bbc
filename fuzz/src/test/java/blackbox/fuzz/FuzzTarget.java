package blackbox.fuzz;

import java.util.List;
import java.util.Map;

/// A parser of hostile octets, and what must hold whatever they are.
///
/// @param name for the command line and the folder of its inputs
/// @param inputBytesMax the longest input to try
/// @param refusals the only exceptions with which the parser may refuse an input
/// @param parser gives it one and checks what came of it
/// @param seeds make inputs to begin with, by what they show; the parser accepts each
public record FuzzTarget(String name, int inputBytesMax, List<Class<?>> refusals, Parser parser, Seeds seeds) {

    public FuzzTarget {
        refusals = List.copyOf(refusals);
    }

    /// Gives the parser an input. An invariant that does not hold is an [AssertionError].
    @FunctionalInterface
    public interface Parser {
        /// Whether the input was accepted: false if the parser says by its answer that it is none of its kind.
        boolean accepts(byte[] input) throws Exception;
    }

    /// Makes the seeds, with the real encoder or tool where octets alone do not get in.
    @FunctionalInterface
    public interface Seeds {
        Map<String, byte[]> make() throws Exception;
    }

    /// A target that refuses with these exceptions.
    public static FuzzTarget of(String name, int inputBytesMax, Parser parser, Seeds seeds, Class<?>... refusals) {
        return new FuzzTarget(name, inputBytesMax, List.of(refusals), parser, seeds);
    }

    /// Ensures an invariant.
    public static void ensure(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    boolean refusesWith(Throwable thrown) {
        return refusals.stream().anyMatch(refusal -> refusal.isInstance(thrown));
    }
}
