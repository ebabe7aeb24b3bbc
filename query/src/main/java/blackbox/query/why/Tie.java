package blackbox.query.why;

import java.util.List;

/// That something followed from a tool use.
///
/// @param exec the index of the program's start by which it is tied; -1 if it is an act of the runtime
///     itself
/// @param others tool uses that may be meant as well
/// @param doubts why it is no better, in clauses
record Tie(ToolUse tool, Grade grade, long exec, List<Other> others, List<String> doubts) {
    /// A tool use that may be meant as well.
    record Other(ToolUse tool, Grade grade) {}

    Tie {
        others = List.copyOf(others);
        doubts = List.copyOf(doubts);
    }
}
