package blackbox.query.why;

/// How much speaks for it that something followed from a tool use; the best first. All of it says
/// "consistent with": a program chooses its own arguments, and so a hostile one can earn an A.
public enum Grade {
    /// What was asked for was done, word for word, by a process of the agent's runtime; nothing else fits,
    /// and nothing was lost meanwhile.
    A("what was asked for, word for word, by the runtime that asked, and nothing else fits"),
    /// As A, but something is open: several fit, a value was cut, events are missing, or the result never
    /// came.
    B("what was asked for, by the runtime that asked, but not beyond doubt"),
    /// The runtime's process, while the tool use was open; what it did was not asked for in these words.
    C("a process of the runtime that asked, while the tool was being used"),
    /// While the tool use was open, and no more.
    D("at the time at which the tool was being used, and nothing more"),
    /// It belongs to no tool use; of a tool use: it has a result, and nothing that could have made it.
    X("tied to nothing");

    private final String words;

    Grade(String words) {
        this.words = words;
    }

    /// What it says, for people.
    public String words() {
        return words;
    }

    /// This one, or `most` if that is worse.
    Grade atMost(Grade most) {
        return compareTo(most) < 0 ? most : this;
    }
}
