package blackbox.fuzz;

import org.jspecify.annotations.Nullable;

/// What Jazzer calls: the target is chosen by name when it starts.
public final class FuzzEntry {
    private static @Nullable FuzzTarget target;

    private FuzzEntry() {}

    /// Called once. Runs the seeds, so that no input is charged with the loading of the classes that it is the first to
    /// need.
    ///
    /// @param arguments the target's name
    public static void fuzzerInitialize(String[] arguments) throws Exception {
        FuzzTarget chosen = FuzzTargets.named(arguments[0]);
        for (byte[] seed : chosen.seeds().make().values()) {
            boolean unused = Execution.accepts(chosen, seed);
        }
        target = chosen;
    }

    /// Called with each input.
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        FuzzTarget chosen = target;
        if (chosen == null) {
            throw new IllegalStateException("Jazzer was started without --target_args=NAME");
        }
        boolean unused = Execution.accepts(chosen, input);
    }
}
