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

/// A policy in a file that a user names.
public final class PolicyFile {

    private PolicyFile() {}

    /// The policy; what is wrong with it is printed on standard error, a line each.
    ///
    /// @throws CommandException when it is none
    public static Policy policy(Path file) {
        try {
            return read(file);
        } catch (PolicyException e) {
            List<Problem> problems = e.problems();
            problems.forEach(problem -> System.err.println(line(file, problem)));
            throw CommandException.badInput(
                    file + " is no policy: " + problems.size() + (problems.size() == 1 ? " error" : " errors"));
        }
    }

    static String line(Path file, Problem problem) {
        return file + ":" + Printable.of(problem.toString());
    }

    static Policy read(Path file) throws PolicyException {
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
