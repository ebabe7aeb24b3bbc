package blackbox.cli.egress;

import blackbox.cli.exit.CommandException;
import blackbox.evidence.text.Printable;
import blackbox.policy.Policy;
import blackbox.policy.text.PolicyException;
import blackbox.policy.text.PolicyReader;
import blackbox.policy.text.Problem;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Parameters;

/// The policy that a command is about; add it as `@Mixin`.
final class PolicyArgument {

    @Parameters(index = "0", paramLabel = "POLICY", description = "A policy, a YAML file (schemas/policy.md).")
    private Path file = Path.of("");

    /// The policy; what is wrong with it is printed on standard error, a line each.
    ///
    /// @throws CommandException when it is none
    Policy policy() {
        try {
            return read();
        } catch (PolicyException e) {
            List<Problem> problems = e.problems();
            problems.forEach(problem -> System.err.println(line(problem)));
            throw CommandException.badInput(
                    file + " is no policy: " + problems.size() + (problems.size() == 1 ? " error" : " errors"));
        }
    }

    /// What is wrong at one place, as compilers say it: `FILE:LINE:COLUMN: what`.
    String line(Problem problem) {
        return file + ":" + Printable.of(problem.toString());
    }

    /// @throws PolicyException when it is none
    Policy read() throws PolicyException {
        return PolicyReader.read(octets(file, PolicyReader.OCTETS_MAX));
    }

    /// A file's content; one octet more than `most` where it is longer.
    ///
    /// @throws CommandException when it cannot be read
    static byte[] octets(Path file, int most) {
        try (InputStream in = Files.newInputStream(file)) {
            return in.readNBytes(most + 1);
        } catch (IOException e) {
            String why = Files.exists(file) ? e.getMessage() : "there is no such file";
            throw CommandException.badInput("cannot read " + file + ": " + why);
        }
    }
}
