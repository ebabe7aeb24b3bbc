package blackbox.cli.egress;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.output.JsonOut;
import blackbox.policy.Policy;
import blackbox.policy.decide.Decision;
import blackbox.policy.decide.Evaluator;
import blackbox.policy.decide.Explanation;
import blackbox.policy.decide.Url;
import blackbox.policy.decide.Verdict;
import blackbox.policy.text.CanonicalPolicy;
import blackbox.query.egress.EgressCheckJson;
import blackbox.query.egress.EgressCheckText;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox egress explain`.
@Command(
        name = "explain",
        description = {
            "Show what a policy says of a URL, stage by stage, with the rule that decides each. Exit 1 when it "
                    + "is refused.",
            "",
            "Nothing is resolved: what a name leads to is judged when it is dialled, and addresses that are not "
                    + "public are refused then."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox egress explain policy.yaml https://api.example/v1/messages --method POST",
            "  blackbox egress explain policy.yaml https://raw.github.com/a --process /usr/bin/git",
            "  blackbox egress explain policy.yaml tcp://db.example:5432 --json"
        })
final class EgressExplainCommand implements Callable<Integer> {

    @Mixin
    private PolicyArgument argument;

    @Parameters(index = "1", paramLabel = "URL", description = "Of http, https, ws, wss, or tcp://HOST:PORT.")
    private String url = "";

    @Option(names = "--method", paramLabel = "M", description = "The request's method (default: ${DEFAULT-VALUE}).")
    private String method = "GET";

    @Option(
            names = "--process",
            paramLabel = "EXE",
            description = "The absolute path of the program (default: not known, so rules for programs do not apply).")
    private @Nullable String exe;

    @Option(names = "--json", description = "One JSON document on standard output.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        Policy policy = argument.policy();
        Url asked;
        try {
            asked = Url.parse(url);
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput(String.valueOf(e.getMessage()));
        }
        Explanation explanation = Explanation.of(new Evaluator(policy, List.of()), asked, method, exe);
        boolean allowed = explanation.decisions().stream().allMatch(decision -> decision.verdict() == Verdict.ALLOW);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            JsonOut.document(out, generator -> write(generator, policy, explanation, allowed));
        } else {
            explanation
                    .decisions()
                    .forEach(each -> out.println("%-8s %-10s %s"
                            .formatted(each.stage().word(), each.verdict().word(), EgressCheckText.why(each))));
            out.flush();
        }
        return allowed ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }

    private void write(JsonGenerator out, Policy policy, Explanation explanation, boolean allowed) throws IOException {
        out.writeStartObject();
        out.writeStringField("policy", CanonicalPolicy.digest(policy));
        out.writeStringField("url", url);
        out.writeStringField("method", method);
        out.writeStringField("process", exe);
        out.writeBooleanField("allowed", allowed);
        out.writeArrayFieldStart("stages");
        for (Decision decision : explanation.decisions()) {
            out.writeStartObject();
            EgressCheckJson.decision(out, decision);
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeEndObject();
    }
}
