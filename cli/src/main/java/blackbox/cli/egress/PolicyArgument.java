package blackbox.cli.egress;

import blackbox.cli.exit.CommandException;
import blackbox.policy.Policy;
import blackbox.policy.text.PolicyException;
import blackbox.policy.text.Problem;
import java.nio.file.Path;
import picocli.CommandLine.Parameters;

/// The policy that a command is about; add it as `@Mixin`.
final class PolicyArgument {

    @Parameters(index = "0", paramLabel = "POLICY", description = "A policy, a YAML file (schemas/policy.md).")
    private Path file = Path.of("");

    /// The policy; what is wrong with it is printed on standard error, a line each.
    ///
    /// @throws CommandException when it is none
    Policy policy() {
        return PolicyFile.policy(file);
    }

    /// What is wrong at one place, as compilers say it: `FILE:LINE:COLUMN: what`.
    String line(Problem problem) {
        return PolicyFile.line(file, problem);
    }

    /// @throws PolicyException when it is none
    Policy read() throws PolicyException {
        return PolicyFile.read(file);
    }
}
