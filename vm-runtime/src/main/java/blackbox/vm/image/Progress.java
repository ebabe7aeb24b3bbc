package blackbox.vm.image;

/// Hears what a long step is doing, in words for a person. Called on the thread that works.
@FunctionalInterface
public interface Progress {
    /// One short line, without its end.
    void say(String what);
}
