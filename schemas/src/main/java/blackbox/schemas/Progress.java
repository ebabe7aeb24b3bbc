package blackbox.schemas;

/// Reports what a long step is doing, in words for people. Called on the working thread.
@FunctionalInterface
public interface Progress {
    /// One short line, without its end.
    void say(String what);
}
