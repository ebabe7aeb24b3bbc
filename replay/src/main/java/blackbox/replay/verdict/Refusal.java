package blackbox.replay.verdict;

import blackbox.replay.divergence.cause.DivergenceClass;

/// Why a run is not replayed: something that it was recorded with is missing, or has changed.
///
/// @param kind which input it is
/// @param what in words: "the image default", "start.argv, word 12"
/// @param expected what the run sealed
/// @param actual what is here; "not here" where nothing is
/// @param mend how to get what is missing, a command if there is one
public record Refusal(DivergenceClass kind, String what, String expected, String actual, String mend) {
    /// The value of `actual` if there is nothing.
    public static final String NOT_HERE = "not here";
}
