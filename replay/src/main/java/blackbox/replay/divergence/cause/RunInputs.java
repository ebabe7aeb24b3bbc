package blackbox.replay.divergence.cause;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The inputs of one side, as short comparable texts (mostly digests). Unknown ones are left out, and are
/// then neither compared nor a cause.
public record RunInputs(Map<Input, String> values) {

    /// One input that is given at the start.
    public enum Input {
        /// Digest of the guest image.
        IMAGE("image", DivergenceClass.IMAGE),
        /// Digest of the warm snapshot, or `none`.
        SNAPSHOT("snapshot", DivergenceClass.SNAPSHOT),
        /// Digest of QEMU.
        QEMU("QEMU", DivergenceClass.ENGINE),
        /// The machine: arguments, memory, CPUs, accelerator, kernel.
        MACHINE("machine", DivergenceClass.ENGINE),
        /// The command that was run.
        COMMAND("command", DivergenceClass.IMAGE),
        /// The user that ran it, and its network.
        SETTING("user and network", DivergenceClass.IMAGE),
        /// Names of the environment variables that were added; values are not recorded.
        ENVIRONMENT("environment", DivergenceClass.IMAGE),
        /// Digest of the workspace.
        WORKSPACE("workspace", DivergenceClass.IMAGE);

        private final String words;
        private final DivergenceClass divergenceClass;

        Input(String words, DivergenceClass divergenceClass) {
            this.words = words;
            this.divergenceClass = divergenceClass;
        }

        /// Its name for people.
        public String words() {
            return words;
        }

        DivergenceClass divergenceClass() {
            return divergenceClass;
        }
    }

    public static final RunInputs UNKNOWN = new RunInputs(Map.of());

    public RunInputs {
        values = Map.copyOf(values);
    }

    @Nullable
    String of(Input input) {
        return values.get(input);
    }

    /// Whether both are known and differ.
    boolean differs(RunInputs other, Input input) {
        String mine = of(input);
        String theirs = other.of(input);
        return mine != null && theirs != null && !mine.equals(theirs);
    }
}
