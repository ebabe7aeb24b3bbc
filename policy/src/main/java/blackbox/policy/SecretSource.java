package blackbox.policy;

import java.util.List;

/// Where the value of a secret comes from; the value is never part of a policy.
public sealed interface SecretSource {

    /// A file that only its owner may read.
    record File(String path) implements SecretSource {}

    /// A variable of the recorder's environment.
    record Variable(String name) implements SecretSource {}

    /// What a command prints.
    ///
    /// @param argv at least its name
    record Command(List<String> argv) implements SecretSource {
        public Command {
            argv = List.copyOf(argv);
        }
    }
}
