package blackbox.cli.egress;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.output.JsonOut;
import blackbox.policy.Policy;
import blackbox.policy.text.CanonicalPolicy;
import blackbox.policy.text.PolicyException;
import blackbox.policy.text.Problem;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox egress validate`.
@Command(
        name = "validate",
        description =
                "Say whether a file is a policy, with all that is wrong with it, and print its digest. Exit 1 when it"
                        + " is none.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox egress validate policy.yaml",
            "  blackbox egress validate policy.yaml --canonical | sha256sum      the same digest"
        })
final class EgressValidateCommand implements Callable<Integer> {

    @Mixin
    private PolicyArgument argument;

    @Option(names = "--canonical", description = "Print the canonical form, of which the digest is, and nothing else.")
    private boolean canonical;

    @Option(names = "--json", description = "One JSON document on standard output.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        Policy policy;
        try {
            policy = argument.read();
        } catch (PolicyException e) {
            if (json) {
                JsonOut.document(out, generator -> invalid(generator, e.problems()));
            } else {
                e.problems().forEach(problem -> System.err.println(argument.line(problem)));
            }
            return ExitCodes.DOES_NOT_HOLD;
        }
        if (canonical) {
            out.print(CanonicalPolicy.text(policy));
        } else if (json) {
            JsonOut.document(out, generator -> valid(generator, policy));
        } else {
            out.println(CanonicalPolicy.digest(policy));
        }
        out.flush();
        return ExitCodes.OK;
    }

    private static void valid(JsonGenerator out, Policy policy) throws IOException {
        out.writeStartObject();
        out.writeBooleanField("valid", true);
        out.writeStringField("policy", CanonicalPolicy.digest(policy));
        out.writeFieldName("canonical");
        out.writeRawValue(CanonicalPolicy.text(policy));
        out.writeEndObject();
    }

    private static void invalid(JsonGenerator out, List<Problem> problems) throws IOException {
        out.writeStartObject();
        out.writeBooleanField("valid", false);
        out.writeArrayFieldStart("problems");
        for (Problem problem : problems) {
            out.writeStartObject();
            out.writeNumberField("line", problem.place().line());
            out.writeNumberField("column", problem.place().column());
            out.writeStringField("what", problem.what());
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeEndObject();
    }
}
