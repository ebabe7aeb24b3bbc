package blackbox.calls;

/// What a tool was given.
///
/// @param text JSON with its keys sorted and without white space, numbers as they were written; if it was no JSON,
///     the text itself
/// @param truncated whether it was longer than what is kept; then it is a beginning, and no JSON text
public record Arguments(String text, boolean truncated) {}
